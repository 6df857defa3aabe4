import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery } from 'kysely';
import type { TenantTx } from './database.ts';

/**
 * Runs a statement that the connection keeps prepared: planning a query on findings takes longer than reading a page. Only for hot statements with
 * few different texts, because every connection keeps them all, and whose best plan does not depend on the parameters. A limit must be a literal:
 * the planner does not choose a plan for all values if it cannot know how many rows are read.
 */
export async function executePrepared<Row>(tx: TenantTx, query: Compilable<Row>): Promise<Row[]> {
  const compiled = query.compile();
  const named: CompiledQuery<Row> & { name: string } = { ...compiled, name: hash('sha1', compiled.sql) };
  return (await tx.executeQuery<Row>(named)).rows;
}
