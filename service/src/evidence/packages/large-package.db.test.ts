import type { EvidenceDocument, Finding } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { expect, it } from 'vitest';
import { allFormats, type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const FINDINGS = 1_200;
const world = usePackages();

it(`seals a work item with ${FINDINGS} findings completely`, async () => {
  const components = Array.from({ length: FINDINGS }, (_, n) => `lib-${n}`);
  expect(await world.scan('large:1', components)).toMatchObject({ status: 'succeeded', counts: { created: FINDINGS } });
  const item = await world.workItem('Update everything', { asset: 'large:1' });
  const { package_id } = await world.request(item.id, allFormats);
  const read = () => world.get<PackageBody>(`/riskops-evidence/packages/${package_id}`);
  await expect.poll(async () => (await read()).status, { timeout: 150_000, interval: 200 }).not.toBe('generating');
  expect(await read()).toMatchObject({ status: 'ready', conclusion: 'not_remediated', error: null });

  const evidence = JSON.parse((await world.download(package_id, 'json')).toString()) as EvidenceDocument;
  const findings = (await world.download(package_id, 'jsonl'))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  expect(findings).toHaveLength(FINDINGS);
  expect(evidence.counts).toMatchObject({ findings: FINDINGS });
  expect(new Set(findings.map(({ component }) => component)).size).toBe(FINDINGS);
  const trust = emptyTrust();
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  expect(await verifyPackage(bytesSource(await world.download(package_id)), trust, nodePlatform())).toMatchObject({ verdict: 'verified', failures: [] });
}, 200_000);
