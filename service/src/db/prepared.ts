import type { Compilable, CompiledQuery } from 'kysely';
import { statementName } from './connection/kept-plans.ts';
import type { TenantTx } from './database.ts';

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Any name is the placeholder of the value with this name. */
const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

/**
 * A statement that is built once and that every connection keeps prepared: building and planning a query on findings takes longer than reading a page.
 * `build` gets placeholders instead of values, so it must only pass them on. Only for hot statements with few different texts, because every connection
 * keeps them all, and whose best plan does not depend on the values: it is planned once for all. A limit must be a literal, so that the planner knows how
 * many rows are read.
 */
export function prepared<Values extends object, Row>(build: (tx: TenantTx, values: Values) => Compilable<Row>) {
  let statement: (CompiledQuery<Row> & { name: string; keep: 'once' }) | null = null;
  return async (tx: TenantTx, values: Values): Promise<Row[]> => {
    if (statement === null) {
      const compiled = build(tx, placeholders as Values).compile();
      statement = { ...compiled, name: statementName(compiled.sql), keep: 'once' };
    }
    const parameters = statement.parameters.map((each) => (each instanceof Placeholder ? values[each.name as keyof Values] : each));
    return (await tx.executeQuery<Row>({ ...statement, parameters })).rows;
  };
}

/**
 * The same statement, which the connection keeps prepared unless it already keeps many. For statements that differ in a few ways, such as the sort order.
 * It is planned once, or for the values of each execution if they decide what is fast.
 */
export function kept<Row>(statement: CompiledQuery<Row>, keep: 'once' | 'for_values'): CompiledQuery<Row> & { keep: 'once' | 'for_values' } {
  return { ...statement, keep };
}
