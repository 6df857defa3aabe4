import type { Observation } from '@rrs/scan-reports';
import type { Selectable } from 'kysely';
import type { Static, TSchema } from 'typebox';
import type { CopyValue } from '../../db/copy.ts';
import type { DB } from '../../db/types.ts';
import type { Rating } from '../../vulnerabilities/cvss.ts';
import type { Names } from './names.ts';

export type FindingRow = Selectable<DB['findings']>;
export type ColumnName = keyof FindingRow;

/** One record of a report with what the service computed from it. */
export interface Reported {
  observation: Observation;
  cvss: Rating | null;
  textId: CopyValue;
}

/**
 * How a column is filled by an import. All texts are SQL. In `create` and `merge`, `r` is what the report says, or what all sources say together, `v` the
 * shared knowledge about the vulnerability, and `f`, in `merge` only, the known finding.
 */
export interface ImportedColumn {
  create: string;
  merge: string;
  /** Absent if the column is not taken from reports. */
  stated?: Stated;
}

/** A value that reports state. */
export interface Stated {
  /** The value of one record. */
  value: (reported: Reported) => CopyValue;
  /** Aggregate of the values `x` that several sources state. `x.lead` orders the sources, independently of when they spoke. `x.ranked` is how much the organization trusts them, `x.best_title` the title of the source that has the best one. */
  fold: string;
  /** What the only source of the finding `f` stated, if it is not the column of the same name. */
  said?: string;
}

/** One field of a finding: its columns, and how the API and the CSV export show it. */
export interface Field<Schema extends TSchema> {
  schema: Schema;
  show: (row: FindingRow, names: Names) => Static<Schema>;
  /** Columns that `show` reads. Null: an import does not fill the column. */
  columns: Partial<Record<ColumnName, ImportedColumn | null>>;
  /** Cells of the CSV export, by heading. */
  csv?: Readonly<Record<string, (value: Static<Schema>) => CsvValue>>;
}

export type CsvValue = string | number | boolean | null | undefined | readonly (string | number)[];

export function field<Schema extends TSchema>(declared: Field<Schema>): Field<Schema> {
  return declared;
}

/** Ways to combine what several sources state about one column. No source removes what another one states. */
export const fold = {
  /** The value of the first source that has one. */
  first: (column: ColumnName) => `(array_agg(x.${column} order by x.lead) filter (where x.${column} is not null))[1]`,
  any: (column: ColumnName) => `bool_or(x.${column})`,
  union: (column: ColumnName) => `distinct_sorted(concat_arrays(x.${column}))`,
} as const;

/** The reports decide. */
export function reported(column: ColumnName, value: Stated['value'], folded: string): ImportedColumn {
  return { stated: { value, fold: folded }, create: `r.${column}`, merge: `r.${column}` };
}

/** The reports decide, and shared knowledge fills the gap. */
export function reportedOrKnown(column: ColumnName, value: Stated['value'], folded: string): ImportedColumn {
  const sql = `coalesce(r.${column}, v.${column})`;
  return { stated: { value, fold: folded }, create: sql, merge: sql };
}

/** Shared knowledge decides. Until it knows something, the reports do. */
export function knownOrReported(column: ColumnName, value: Stated['value'], folded: string): ImportedColumn {
  const sql = `coalesce(v.${column}, r.${column})`;
  return { stated: { value, fold: folded }, create: sql, merge: sql };
}

/** Shared knowledge decides. A value that is already there is not lost. */
export function known(column: ColumnName): ImportedColumn {
  return { create: `v.${column}`, merge: `coalesce(v.${column}, f.${column})` };
}
