// One small picture for each page, drawn here; all are decoration beside a word.
const shapes = {
  stoa: 'M2 8 12 3l10 5v2H2zM4 11h3v8H4zm6.500 0h3v8h-3zM17 11h3v8h-3zM2 20h20v2H2z',
  overview: 'M3 12h4l2-7 4 14 3-9 2 4h3',
  health: 'M12 20s-8-5-8-11a4.500 4.500 0 0 1 8-3 4.500 4.500 0 0 1 8 3c0 6-8 11-8 11z',
  clients: 'M3 5h18v11H3zM8 20h8M12 16v4',
  browse: 'M3 6h6l2 2h10v11H3z',
  exports: 'M12 15V4m-4 4 4-4 4 4M4 14v6h16v-6',
  recycle: 'M4 7h16M9 7V4h6v3m-9 0 1 13h10l1-13',
  quotas: 'M4 18a8 8 0 1 1 16 0M12 18l4-6',
  qos: 'M4 7h9m4 0h3M4 17h3m4 0h9M15 4.500v5M9 14.500v5',
  audit: 'M6 3h9l4 4v14H6zM9 10h6M9 14h6M9 18h4',
  users: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.500-7 8-7s8 3 8 7',
  groups: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2 20c0-4 3-6 7-6s7 2 7 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2.500.7 4 2.700 4 5.500',
  tokens: 'M8 16a4 4 0 1 1 3.500-6H21v3h-2v3h-3v-3h-4.500A4 4 0 0 1 8 16z',
  jobs: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v4m0 12v4M2 12h4m12 0h4M5 5l3 3m8 8 3 3M19 5l-3 3m-8 8-3 3',
} as const;
export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={`icon ${name === 'stoa' ? 'filled' : ''}`} viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
