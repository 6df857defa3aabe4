import { str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import type { Http } from '../../core/contract.ts';
import { Page, searchOf } from './page.ts';
import { type Change, caseless } from './vulnerability.ts';

/** So many vulnerabilities are asked about in one run; what is fixed beyond that shows when everything is brought again. */
const MOST_ASKED = 500;
const Machines = Type.Union([Page, Type.Object({ error: Type.Unknown() })]);

/**
 * A change says that one version of some software is gone from a device. Another version beside it may have the same vulnerability, and
 * is no change: so what is said to be fixed counts only where the device no longer has the vulnerability at all.
 */
export function createDoubt(http: Http): (changes: readonly Change[]) => Promise<Change[]> {
  const affected = new Map<string, ReadonlySet<string> | null>();
  const isGone = async ({ device, cve }: Change): Promise<boolean> => {
    if (!affected.has(cve)) {
      if (affected.size >= MOST_ASKED) return false;
      affected.set(cve, await machinesWith(http, cve));
    }
    return affected.get(cve)?.has(device) === false;
  };
  return async (changes) => {
    const certain: Change[] = [];
    for (const change of changes) if (!change.isFixed || (await isGone(change))) certain.push(change);
    return certain;
  };
}

/** Null: Defender does not say. */
async function machinesWith(http: Http, cve: string): Promise<Set<string> | null> {
  const machines = new Set<string>();
  const path = `api/vulnerabilities/${encodeURIComponent(cve)}/machineReferences`;
  for (let next: string | null = ''; next !== null; ) {
    const { body }: { body: Static<typeof Machines> } = await http.json(Machines, { path: `${path}${next}`, accept: [404] });
    if (!('value' in body)) return null;
    for (const machine of body.value) machines.add(str(caseless(machine).id) ?? '');
    next = body['@odata.nextLink'] ? searchOf(body['@odata.nextLink']) : null;
  }
  return machines;
}
