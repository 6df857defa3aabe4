import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '../../../verifier/src/index.ts';
import { nodePlatform } from '../../../verifier/src/node.ts';
import type { Caller } from './work.ts';

/** Verifies every package with the published keys, as an auditor does. */
export async function verifyPackages(caller: Caller, violations: string[]): Promise<number> {
  const headers = { authorization: `Bearer ${caller.key}` };
  const read = (path: string) => fetch(`${caller.url()}/api/v1/riskops-evidence${path}`, { headers });
  const trust = emptyTrust();
  addKeys(trust, keyFilesIn('keys.json', await (await read('/keys')).text()));
  let verified = 0;
  for (const id of caller.ledger.packages) {
    const { status } = (await (await read(`/packages/${id}`)).json()) as { status: string };
    if (status === 'failed') continue;
    const bytes = new Uint8Array(await (await read(`/packages/${id}/download`)).arrayBuffer());
    const { verdict, failures } = await verifyPackage(bytesSource(bytes), trust, nodePlatform());
    if (verdict === 'verified') verified++;
    else violations.push(`package ${id} is ${verdict}: ${failures.map(({ code }) => code).join(', ')}`);
  }
  return verified;
}
