import { type RawBuilder, sql } from 'kysely';

/** SQL expressions by column name, so that no list of columns is matched with a list of values by position. */
export type NamedValues = Readonly<Record<string, RawBuilder<unknown>>>;

/** For `insert into table (columns) select values`. */
export function insertLists(named: NamedValues): { columns: RawBuilder<unknown>; values: RawBuilder<unknown> } {
  return { columns: sql.join(Object.keys(named).map((name) => sql.ref(name))), values: sql.join(Object.values(named)) };
}

/** For `update table set assignments`. */
export function assignments(named: NamedValues): RawBuilder<unknown> {
  return sql.join(Object.entries(named).map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
}

/** For `select selection`, each expression under its name. */
export function selection(named: NamedValues): RawBuilder<unknown> {
  return sql.join(Object.entries(named).map(([name, value]) => sql`${value} as ${sql.ref(name)}`));
}

/** The columns of a relation by their names, for example those that a common table expression yields. */
export function columnsOf(relation: string, names: readonly string[]): NamedValues {
  return Object.fromEntries(names.map((name) => [name, sql.ref(`${relation}.${name}`)]));
}
