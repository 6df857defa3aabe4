import type { Observation } from '@rrs/scan-reports';
import type { Selectable } from 'kysely';
import type { Static, TSchema } from 'typebox';
import type { CopyValue } from '../../db/copy.ts';
import type { DB } from '../../db/types.ts';
import type { ScoredVector } from '../../vulnerabilities/cvss.ts';
import type { Names } from './names.ts';

export type FindingRow = Selectable<DB['findings']>;
export type ColumnName = keyof FindingRow;

/** One record of a report with what the service computed from it. */
export interface Reported {
  observation: Observation;
  cvss: ScoredVector | null;
  textId: CopyValue;
}

/**
 * How a column is filled by an import. `create` and `merge` are SQL: `r` is the staged record, `v` the shared knowledge about the vulnerability, and
 * `f`, in `merge` only, the known finding.
 */
export interface ImportedColumn {
  /** The value to stage. Absent if the column is not taken from the report. */
  staged?: (reported: Reported) => CopyValue;
  create: string;
  merge: string;
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

/** The report decides. */
export function reported(column: ColumnName, staged: (reported: Reported) => CopyValue): ImportedColumn {
  return { staged, create: `r.${column}`, merge: `r.${column}` };
}

/** The report decides, and shared knowledge fills the gap. */
export function reportedOrKnown(column: ColumnName, staged: (reported: Reported) => CopyValue): ImportedColumn {
  const sql = `coalesce(r.${column}, v.${column})`;
  return { staged, create: sql, merge: sql };
}

/** Shared knowledge decides. A value that is already there is not lost. */
export function known(column: ColumnName): ImportedColumn {
  return { create: `v.${column}`, merge: `coalesce(v.${column}, f.${column})` };
}
