// Areas in proportion to their values. Each is a link; the table beside it has the same data as text.
import { hierarchy, treemap, treemapSquarify } from 'd3-hierarchy';
import { useEffect, useRef, useState } from 'react';

export interface Area {
  key: string;
  name: string;
  size: number;
  text: string;
  href?: string; // none: the rest
}

interface Cell {
  area?: Area;
  parts?: Cell[];
}

const kHeight = 260;

export function TreeMap({ label, areas }: { label: string; areas: readonly Area[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const shown = areas.filter((area) => area.size > 0);
  const root = hierarchy<Cell>({ parts: shown.map((area) => ({ area })) }, (node) => node.parts)
    .sum((node) => node.area?.size ?? 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const laid = treemap<Cell>().tile(treemapSquarify).size([width, kHeight]).paddingInner(2).round(true)(root);

  return (
    <div ref={place} className="tree-map">
      {width > 0 && (
        <svg width={width} height={kHeight} role="group" aria-label={label}>
          {laid.leaves().map((leaf, i) => {
            const { area } = leaf.data;
            if (area === undefined) return null;
            const w = leaf.x1 - leaf.x0;
            const h = leaf.y1 - leaf.y0;
            if (w < 1 || h < 1) return null;
            const fits = Math.floor((w - 12) / 7.5);
            const body = (
              <g transform={`translate(${leaf.x0} ${leaf.y0})`}>
                <title>{`${area.name}: ${area.text}`}</title>
                <rect width={w} height={h} rx="3" className={area.href === undefined ? 'rest' : `shade-${i % 6}`} />
                {fits > 2 && h > 20 && (
                  <text x="7" y="17" aria-hidden="true">
                    {area.name.length > fits ? `${area.name.slice(0, fits - 1)}…` : area.name}
                  </text>
                )}
                {fits > 6 && h > 38 && (
                  <text x="7" y="34" className="small" aria-hidden="true">
                    {area.text}
                  </text>
                )}
              </g>
            );
            return area.href === undefined ? (
              <g key={area.key}>{body}</g>
            ) : (
              <a key={area.key} href={area.href} aria-label={`${area.name}: ${area.text}`}>
                {body}
              </a>
            );
          })}
        </svg>
      )}
    </div>
  );
}
