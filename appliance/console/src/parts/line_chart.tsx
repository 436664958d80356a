// Lines over the last minutes. The table beside them has the same data; one sentence describes the picture.
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../theme.tsx';

export interface Line {
  name: string;
  values: readonly (number | null)[];
}
interface Props {
  title: string;
  summary: string;
  times: readonly number[]; // seconds since 1970
  lines: readonly Line[];
  text(value: number): string; // for the axis
  height?: number;
}

export const lineColours = ['--line-1', '--line-2', '--line-3', '--line-4'] as const;
const dashes: readonly (number[] | undefined)[] = [undefined, [6, 3], undefined, [6, 3]];

export function LineChart({ title, summary, times, lines, text, height = 150 }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const { dark } = useTheme();
  const names = lines.map((line) => line.name).join('\n');
  const textRef = useRef(text);
  textRef.current = text;

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--rule'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
        axes: [
          { ...axis, size: 30, values: '{HH}:{mm}:{ss}', space: 90 },
          { ...axis, size: 74, values: (_, values) => values.map((value) => textRef.current(value)) },
        ],
        series: [
          {},
          ...names.split('\n').map((name, i) => ({
            label: name,
            stroke: colour(lineColours[i % lineColours.length] ?? '--line-1'),
            width: 2,
            points: { show: false },
            ...(dashes[i % dashes.length] === undefined ? {} : { dash: dashes[i % dashes.length] as number[] }),
          })),
        ],
      },
      [[], ...names.split('\n').map(() => [])],
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, height, dark]);

  useEffect(() => {
    // Without protocols there is a line without a name and nothing to draw in it.
    if (lines.length === 0) return;
    plot.current?.setData([[...times], ...lines.map((line) => [...line.values])]);
  }, [times, lines, dark, names]);

  return (
    <figure className="chart">
      <figcaption>
        <span className="chart-title">{title}</span>
        <ul className="legend">
          {lines.map((line, i) => (
            <li key={line.name}>
              <svg width="18" height="8" aria-hidden="true">
                <line x1="0" y1="4" x2="18" y2="4" className={`line-${(i % 4) + 1}`} />
              </svg>
              {line.name}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={place} className="plot" role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  );
}
