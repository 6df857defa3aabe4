import type { Static, TSchema } from 'typebox';
import type { CopyValue } from '../../db/copy.ts';
import { detailFields } from './detail-fields.ts';
import { type ColumnName, type CsvValue, type Field, type FindingRow, fold, type ImportedColumn, type Reported, reported } from './field.ts';
import { listedFields } from './fields.ts';
import type { Names } from './names.ts';

/** What the parts of the feature need, derived from the declared fields. */

type Schemas<Fields> = { [Name in keyof Fields]: Fields[Name] extends Field<infer Schema> ? Schema : never };
type Shown<Fields> = { [Name in keyof Fields]: Fields[Name] extends Field<infer Schema> ? Static<Schema> : never };
type AnyField = { schema: TSchema; columns: Field<TSchema>['columns']; show: (row: FindingRow, names: Names) => unknown };

export const listedSchemas = schemasOf(listedFields);
export const detailSchemas = schemasOf(detailFields);

function schemasOf<Fields extends Record<string, AnyField>>(fields: Fields): Schemas<Fields> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])) as Schemas<Fields>;
}

export const showListed = showing(listedFields);
export const showDetails = showing(detailFields);

function showing<Fields extends Record<string, AnyField>>(fields: Fields): (row: FindingRow, names: Names) => Shown<Fields> {
  const shows = Object.entries(fields).map(([name, { show }]) => ({ name, show }));
  return (row, names) => {
    const shown: Record<string, unknown> = {};
    for (const { name, show } of shows) shown[name] = show(row, names);
    return shown as Shown<Fields>;
  };
}

/** The columns that a page of the list reads. */
export const listedColumns = Object.values(listedFields).flatMap(({ columns }) => Object.keys(columns)) as ColumnName[];

/** All declared columns. */
export const declaredColumns = [...new Set([...listedColumns, ...Object.values(detailFields).flatMap(({ columns }) => Object.keys(columns))])];

interface NamedColumn extends ImportedColumn {
  name: string;
}

/** The columns that an import fills. */
export const importedColumns: readonly NamedColumn[] = [
  ...Object.values(listedFields).flatMap(({ columns }) => Object.entries(columns).flatMap(([name, column]) => (column ? [{ ...column, name }] : []))),
  { name: 'text_id', ...reported('text_id', ({ textId }) => textId, fold.first('text_id')) },
];

const statedColumns = importedColumns.flatMap(({ name, stated }) => (stated ? [{ name, ...stated }] : []));

/** The columns that a record of a report fills in the staging table. */
export const stagedColumns: Readonly<Record<string, (reported: Reported) => CopyValue>> = Object.fromEntries(
  statedColumns.map(({ name, value }) => [name, value]),
);

/** What one source says, as columns of the staging table, from a staged record `r` or from the finding `f` that has only this source. */
export const saidNames: readonly string[] = statedColumns.map(({ name }) => name);
export const saidByFinding: Readonly<Record<string, string>> = Object.fromEntries(statedColumns.map(({ name, said }) => [name, said ?? `f.${name}`]));
/** What several sources say together. */
export const foldedColumns: Readonly<Record<string, string>> = Object.fromEntries(statedColumns.map(({ name, fold: folded }) => [name, folded]));

type CsvFields = Shown<typeof listedFields> & Shown<typeof detailFields>;

/** The cells of the CSV export, by heading. */
export const csvColumns: Readonly<Record<string, (finding: CsvFields) => CsvValue>> = Object.assign(
  {},
  ...Object.entries({ ...listedFields, ...detailFields }).map(([name, declared]) => csvOf(name as keyof CsvFields, declared)),
);

function csvOf<Name extends keyof CsvFields>(name: Name, { csv }: { csv?: Readonly<Record<string, (value: never) => CsvValue>> }) {
  const cells = Object.entries(csv ?? {}) as [string, (value: CsvFields[Name]) => CsvValue][];
  return Object.fromEntries(cells.map(([heading, read]) => [heading, (finding: CsvFields) => read(finding[name])]));
}
