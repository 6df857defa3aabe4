import { csvCell } from '@rrs/evidence-format';

type Value = string | number | boolean | null | undefined | readonly (string | number)[];

/** The columns of a CSV file: headings and how to read each cell. */
export type Columns<T> = Readonly<Record<string, (item: T) => Value>>;

export function headerRow<T>(columns: Columns<T>): string {
  return `${Object.keys(columns).join(',')}\r\n`;
}

export function row<T>(columns: Columns<T>, item: T): string {
  return `${Object.values(columns)
    .map((read) => cell(read(item)))
    .join(',')}\r\n`;
}

function cell(value: Value): string {
  return csvCell(typeof value === 'object' && value !== null ? value.map(String) : (value ?? null));
}
