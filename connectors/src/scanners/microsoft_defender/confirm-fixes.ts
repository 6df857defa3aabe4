import { str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import type { Http } from '../../core/contract.ts';
import { eachPageOnce } from '../../core/lists.ts';
import { Page, searchOf } from './page.ts';
import { type Change, caseless } from './vulnerability.ts';

/** The number of vulnerabilities that a run checks. Fixes beyond it are found by the next complete run. */
const MAX_QUERIES = 500;
const Machines = Type.Union([Page, Type.Object({ error: Type.Unknown() })]);

/**
 * A change reports that one version of a software is gone from a device. Another installed version may have the same vulnerability and is not
 * reported as a change. So a fix counts only if the device no longer has the vulnerability at all.
 */
export function createFixFilter(http: Http): (changes: readonly Change[]) => Promise<Change[]> {
  const affected = new Map<string, ReadonlySet<string> | null>();
  const isGone = async ({ device, cve }: Change): Promise<boolean> => {
    if (!affected.has(cve)) {
      if (affected.size >= MAX_QUERIES) return false;
      affected.set(cve, await machinesWith(http, cve));
    }
    return affected.get(cve)?.has(device) === false;
  };
  return async (changes) => {
    const confirmed: Change[] = [];
    for (const change of changes) if (!change.isFixed || (await isGone(change))) confirmed.push(change);
    return confirmed;
  };
}

/** Null if Defender does not know the vulnerability. */
async function machinesWith(http: Http, cve: string): Promise<Set<string> | null> {
  const machines = new Set<string>();
  const path = `api/vulnerabilities/${encodeURIComponent(cve)}/machineReferences`;
  const visit = eachPageOnce(`the devices with ${cve}`);
  for (let next: string | null = ''; next !== null; ) {
    visit(next);
    const { body }: { body: Static<typeof Machines> } = await http.json(Machines, { path: `${path}${next}`, accept: [404] });
    if (!('value' in body)) return null;
    for (const machine of body.value) machines.add(str(caseless(machine).id) ?? '');
    next = body['@odata.nextLink'] ? searchOf(body['@odata.nextLink']) : null;
  }
  return machines;
}
