// Numbers and times for people. Units are the same in both languages; digits and dates follow the locale.

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

function digits(value: number, locale: string): string {
  return value.toLocaleString(locale, { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

export function bytes(value: number, locale = 'en'): string {
  let unit = 0;
  let rest = Math.abs(value);
  // 1023.9 KiB would be shown as 1,024 KiB.
  while (rest >= 1023.5 && unit < kUnits.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  const text = unit === 0 ? Math.round(rest).toLocaleString(locale) : digits(rest, locale);
  return `${value < 0 ? '−' : ''}${text} ${kUnits[unit] ?? ''}`;
}

export function bytesPerSecond(value: number, locale = 'en'): string {
  return `${bytes(value, locale)}/s`;
}

export function count(value: number, locale = 'en'): string {
  return value.toLocaleString(locale, { maximumFractionDigits: 0 });
}

export function perSecond(value: number, locale = 'en'): string {
  return `${digits(value, locale)}/s`;
}

export function microseconds(value: number | null, locale = 'en'): string {
  if (value === null) return '–';
  if (value < 1000) return `${digits(value, locale)} µs`;
  if (value < 1_000_000) return `${digits(value / 1000, locale)} ms`;
  return `${digits(value / 1_000_000, locale)} s`;
}

export function percent(part: number, whole: number, locale = 'en'): string {
  if (whole <= 0) return '–';
  return (part / whole).toLocaleString(locale, { style: 'percent', maximumFractionDigits: part / whole < 0.1 ? 1 : 0 });
}

// "3d 4h", "12m 5s", "3天 4小时": the two largest units.
export function duration(seconds: number, locale = 'en'): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), 'day'],
    [Math.floor(whole / 3600) % 24, 'hour'],
    [Math.floor(whole / 60) % 60, 'minute'],
    [whole % 60, 'second'],
  ];
  const say = (n: number, unit: string) => n.toLocaleString(locale, { style: 'unit', unit, unitDisplay: 'narrow' });
  const first = parts.findIndex(([n]) => n > 0);
  if (first < 0) return say(0, 'second');
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => say(n, unit))
    .join(' ');
}

export function time(iso: string | null | undefined, locale = 'en'): string {
  if (iso === null || iso === undefined || iso === '') return '–';
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' });
}

// "10GiB", "1.5 TB", "500000" in bytes; null when it is none. As the command stoa reads sizes: KB is 1000, KiB (and K) 1024.
export function parseBytes(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgtpe]?)(i?)(b?)\s*$/i.exec(text);
  if (match === null) return null;
  const [, number = '', prefix = '', binary = '', b = ''] = match;
  if (prefix === '' && binary !== '') return null;
  const power = prefix === '' ? 0 : 'kmgtpe'.indexOf(prefix.toLowerCase()) + 1;
  const value = Math.round(Number(number) * (binary === '' && b !== '' && power > 0 ? 1000 : 1024) ** power);
  return Number.isSafeInteger(value) ? value : null;
}

// The shortest text that parseBytes reads as exactly this.
export function bytesText(value: number): string {
  for (let unit = kUnits.length - 1; unit > 0; unit -= 1) {
    if (value > 0 && value % 1024 ** unit === 0) return `${value / 1024 ** unit}${kUnits[unit] ?? ''}`;
  }
  return String(value);
}

// A whole number; null when it is none.
export function parseCount(text: string): number | null {
  const clean = text.trim();
  if (!/^\d+$/.test(clean)) return null;
  const value = Number(clean);
  return Number.isSafeInteger(value) ? value : null;
}
