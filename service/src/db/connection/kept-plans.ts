import { hash } from 'node:crypto';
import type pg from 'pg';

/** A plan takes up to some hundred KB, and every connection has its own. */
export const MOST_PLANS = 200;

/** PostgreSQL cuts off names after 63 bytes. */
export const statementName = (text: string): string => hash('sha1', text);

const kept = new WeakMap<pg.ClientBase, Set<string>>();

/** The name under which the connection keeps the plan of a statement. Undefined if it already keeps as many as it may. */
export function keptName(client: pg.ClientBase, text: string): string | undefined {
  const names = kept.get(client) ?? new Set();
  kept.set(client, names);
  const name = statementName(text);
  if (!names.has(name) && names.size >= MOST_PLANS) return undefined;
  names.add(name);
  return name;
}
