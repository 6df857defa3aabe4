import css from './charts.module.css';
import { number } from './words.ts';

export interface Series {
  label: string;
  values: readonly number[];
  tone: 'strong' | 'soft';
}

const WIDTH = 640;
const HEIGHT = 160;

/** Bars side by side, as a drawing and as a table: no number is only a picture. */
export function Bars({ label, names, series }: { label: string; names: readonly string[]; series: readonly Series[] }) {
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const slot = WIDTH / Math.max(1, names.length);
  const width = (slot * 0.7) / series.length;
  return (
    <figure className={css.chart}>
      <figcaption className={css.legend}>
        {series.map(({ label: name, tone }) => (
          <span key={name} data-tone={tone}>
            {name}
          </span>
        ))}
        <span className="dim">at most {number(most)} a day</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {names.map((name, column) =>
          series.map(({ label: each, tone, values }, index) => {
            const height = ((values[column] ?? 0) / most) * (HEIGHT - 4);
            return (
              <rect
                key={`${name} ${each}`}
                data-tone={tone}
                x={column * slot + slot * 0.15 + index * width}
                y={HEIGHT - height}
                width={width}
                height={height}
              />
            );
          }),
        )}
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      </svg>
      <div className={css.axis} aria-hidden="true">
        <span>{names[0]}</span>
        <span>{names.at(-1)}</span>
      </div>
      <details>
        <summary>{label} as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {series.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name, column) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {series.map(({ label: each, values }) => (
                  <td key={each}>{number(values[column] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
