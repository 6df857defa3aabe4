import type { Staged } from './reading/stage-report.ts';

/** Says how a software bill of materials without vulnerabilities was understood: its components are not stored, and it proves nothing. */
export function inventoryNotes({ received, run, runByAsset }: Pick<Staged, 'received' | 'run' | 'runByAsset'>): string[] {
  const isInventory = run.inventory_only || [...runByAsset.values()].some((facts) => facts.inventory_only);
  if (!isInventory || received > 0) return [];
  return [
    'The report lists components but has no list of vulnerabilities. It was read as an inventory: no finding was created or closed, and the components are not stored. To report that there are no vulnerabilities, include an empty list of them.',
  ];
}
