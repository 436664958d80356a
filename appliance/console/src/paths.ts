// Paths of the volume. Names are bytes, so a path is kept as it is written in a URL: each name percent-encoded, "/" between.

declare const kind: unique symbol;
export type Path = string & { [kind]: 'path' };

export const root = '/' as Path;

export function ofText(text: string): Path {
  const names = text.split('/').filter((name) => name !== '');
  return `/${names.map(encodeURIComponent).join('/')}` as Path;
}

// The name of an entry; `base64` holds it where it is no UTF-8.
export function child(parent: Path, name: string, base64?: string): Path {
  const encoded = base64 === undefined ? encodeURIComponent(name) : encodeBytes(atob(base64));
  return `${parent === '/' ? '' : parent}/${encoded}` as Path;
}

function encodeBytes(bytes: string): string {
  return Array.from(bytes, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`).join('');
}

export function parent(path: Path): Path {
  return (path.slice(0, path.lastIndexOf('/')) || '/') as Path;
}

// For people: bytes that are no UTF-8 as U+FFFD.
export function text(path: Path): string {
  const bytes: number[] = [];
  for (let i = 0; i < path.length; i += 1) {
    if (path[i] === '%') {
      bytes.push(Number.parseInt(path.slice(i + 1, i + 3), 16));
      i += 2;
    } else {
      bytes.push(...new TextEncoder().encode(path[i]));
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

export function steps(path: Path): { name: string; path: Path }[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, i) => {
    const here = `/${names.slice(0, i + 1).join('/')}` as Path;
    return { name: text(here).split('/').pop() ?? '', path: here };
  });
}
