import { type RawBuilder, sql } from 'kysely';
import type { AssetSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';

/** Which of two merged assets a run named: the one that is separated, the one that stayed, both, or it cannot be told. */
export type Side = 'from' | 'into' | 'both' | 'unknown';

interface Run {
  import_id: string;
  track: number;
  keys: string[];
}

export type Sides = readonly (Run & { side: Side })[];

export function sidesSql(sides: Sides, name = 'side'): RawBuilder<unknown> {
  const column = <K extends 'import_id' | 'track' | 'side'>(name: K) => sides.map((run) => run[name]);
  return sql`unnest(${column('import_id')}::uuid[], ${column('track')}::smallint[], ${column('side')}::text[]) as ${sql.ref(name)} (import_id, track, side)`;
}

/** The runs of the asset that stayed since the merge. `earlier` are the imports of before. */
export async function readSides(tx: TenantTx, orgId: string, { into, keys }: AssetSeparation, earlier: readonly string[]): Promise<Sides> {
  const { rows } = await sql<Run>`
    select run.import_id, run.track, run.named_keys as keys from run_assets run
    where run.org_id = ${orgId} and run.asset_id = ${into} and run.named_keys is not null and run.import_id <> all(${earlier as string[]}::uuid[])`.execute(tx);
  const first = decide(rows, keys);
  return decide(rows, { from: [...keys.from, ...learnedBy('from', first, keys)], into: [...keys.into, ...learnedBy('into', first, keys)] });
}

function decide(runs: readonly Run[], keys: AssetSeparation['keys']): Sides {
  const known = { from: new Set(keys.from), into: new Set(keys.into) };
  const sideOf = (names: readonly string[]): Side => {
    const [isFrom, isInto] = [names.some((key) => known.from.has(key)), names.some((key) => known.into.has(key))];
    if (isFrom && isInto) return 'both';
    return isFrom ? 'from' : isInto ? 'into' : 'unknown';
  };
  return runs.map((run) => ({ ...run, side: sideOf(run.keys) }));
}

/** The keys that only runs of one of the assets have had since the merge. */
export function learnedBy(side: 'from' | 'into', sides: Sides, keys: AssetSeparation['keys']): string[] {
  const other = new Set([...sides.filter((run) => run.side !== side).flatMap((run) => run.keys), ...keys.from, ...keys.into]);
  return [...new Set(sides.filter((run) => run.side === side).flatMap((run) => run.keys))].filter((key) => !other.has(key));
}
