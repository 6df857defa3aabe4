import type { TenantTx } from '../../db/database.ts';
import type { MergedPair } from '../follower.ts';
import type { Resolution } from '../merge/resolution.ts';
import { adoptSourcePackages } from './adopt-source-packages.ts';
import { adoptAliases } from './aliases/adopt-aliases.ts';
import { adoptCheckIds } from './aliases/adopt-check-ids.ts';
import { joinComponents } from './join-components.ts';

/** Applies what the staged records and earlier reports say about names of one vulnerability and of one component. Returns the findings that became one. */
export async function adoptIdentities(tx: TenantTx, resolution: Resolution): Promise<MergedPair[]> {
  if (resolution.staged.rows === 0) return [];
  await adoptCheckIds(tx, resolution);
  return [...(await adoptAliases(tx, resolution)), ...(await adoptSourcePackages(tx, resolution)), ...(await joinComponents(tx, resolution))];
}
