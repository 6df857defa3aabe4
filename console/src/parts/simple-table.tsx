import type { ReactNode } from 'react';
import css from './simple-table.module.css';

interface SimpleColumn<Row> {
  label: string;
  cell: (row: Row) => ReactNode;
  align?: 'end';
  /** The heading is only for screen readers, as above buttons. */
  isLabelHidden?: true;
}

/** A short list as a plain table. Long lists use lists/table.tsx. */
export function SimpleTable<Row>({
  label,
  rows,
  keyOf,
  columns,
}: {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  columns: readonly SimpleColumn<Row>[];
}) {
  return (
    // Wide tables scroll in themselves, also by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by key.
    <section className={css.wrap} aria-label={`${label}, table`} tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" data-align={column.align}>
                {column.isLabelHidden ? <span className="visually-hidden">{column.label}</span> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.label} data-align={column.align} data-label={column.label}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
