import type { Evidence } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { expect, it } from 'vitest';
import { usePackages } from '../testing/packages.ts';

const FINDINGS = 5_000;
const world = usePackages();

it(`a work item with ${FINDINGS} findings has a package with every one of them`, async () => {
  let t=performance.now(); const lap=(w:string)=>{console.log(w, Math.round(performance.now()-t), Math.round(process.memoryUsage().rss/2**20)); t=performance.now();};
  const components = Array.from({ length: FINDINGS }, (_, n) => `lib-${n}`);
  expect(await world.scan('large:1', components)).toMatchObject({ status: 'succeeded', counts: { created: FINDINGS } });
  lap('import');
  const item = await world.workItem('Update everything', { asset: 'large:1' });
  lap('item');
  const timesteps=(globalThis as any);  const sealed = await world.seal(item.id);
  lap('seal');
  expect(sealed).toMatchObject({ status: 'ready', conclusion: 'not_remediated' });

  const evidence = JSON.parse((await world.download(sealed.package_id, 'json')).toString()) as Evidence;
  expect(evidence.findings).toHaveLength(FINDINGS);
  expect(evidence.counts).toMatchObject({ findings: FINDINGS });
  expect(new Set(evidence.findings.map(({ component }) => component)).size).toBe(FINDINGS);
  lap('json');
  const trust = emptyTrust();
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  expect(await verifyPackage(bytesSource(await world.download(sealed.package_id)), trust, nodePlatform())).toMatchObject({ verdict: 'verified', failures: [] });
  lap('verify');
}, 120_000);
