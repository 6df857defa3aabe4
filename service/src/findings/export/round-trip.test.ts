import { formats, fromBuffer, type Location, type Observation } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { identityOf } from '../identity/identity.ts';

const ids = fc.constantFrom('CVE-2024-0001', 'CVE-2024-0002', 'GHSA-2345-6789-cfgh', 'GHSA-cfgh-2345-6789', 'RHSA-2020:0111', 'SNYK-JS-A-1', 'DSA-1', 'A+B');
const locations: fc.Arbitrary<Location> = fc.record(
  {
    component: fc.constantFrom('lib', '@acme/ui', 'group:name'),
    purl: fc.constantFrom('pkg:npm/%40acme/ui@1', 'pkg:deb/debian/libssl3@3'),
    path: fc.constantFrom('src/a b.ts', 'C:/a.py', '-x'),
    line: fc.integer({ min: 1, max: 9 }),
    fingerprint: fc.constantFrom('a', 'b'),
    url: fc.constantFrom('https://a.example/x', 'https://a.example/y'),
    method: fc.constantFrom('GET', 'POST'),
    port: fc.integer({ min: 1, max: 3 }),
    protocol: fc.constantFrom('tcp', 'udp'),
    resource: fc.constantFrom('aws_s3_bucket.logs', 'Deployment/web'),
  },
  { requiredKeys: [] },
);
const observations: fc.Arbitrary<Observation> = fc
  .record({
    rule: fc.option(fc.constantFrom('rule', 'a:b', 'CVE-2024-0001', '=x')),
    tool: fc.constantFrom('tool', 'a tool', 'semgrep'),
    vulnerability_ids: fc.uniqueArray(ids, { maxLength: 4 }),
    location: locations,
  })
  .filter(({ rule, vulnerability_ids }) => rule !== null || vulnerability_ids.length > 0)
  .map((given) => observation({ ...given, place: 'line 1', title: 'A title', severity: 'high' }));

/** Exports the finding of an observation, with ids that other sources may have added to it. */
async function reread(seen: Observation, others: readonly string[]): Promise<Observation | undefined> {
  const finding = {
    id: '1',
    title: seen.title,
    status: 'open',
    severity: 'high',
    risk_score: 1,
    asset: { type: 'host', name: 'web1' },
    location: seen.location,
    sources: [{ provider: 'trivy', tool: '' }],
    weakness: identityOf(seen).weakness,
    rule: seen.rule,
    vulnerability_ids: [...new Set([...seen.vulnerability_ids, ...others])],
  };
  const format = formats.find(({ id }) => id === 'rrs_ndjson');
  for await (const item of format?.read(fromBuffer(JSON.stringify(finding))) ?? []) if ('observation' in item) return item.observation;
  return undefined;
}

it('keeps the identity and the rule of every finding', async () => {
  await fc.assert(
    fc.asyncProperty(observations, async (seen) => {
      const again = await reread(seen, []);
      if (again === undefined) throw new Error('the finding was not read');
      const [before, after] = [identityOf(seen), identityOf(again)];
      expect([after.weakness, after.identityKey.text, again.rule]).toEqual([before.weakness, before.identityKey.text, seen.rule]);
    }),
    { numRuns: 1_000 },
  );
});

it('keeps the weakness of a finding with a public id when other sources added ids', async () => {
  await fc.assert(
    fc.asyncProperty(ids, fc.uniqueArray(ids, { maxLength: 4 }), async (id, others) => {
      const seen = observation({ place: 'line 1', tool: 'tool', title: 'A title', severity: 'high', vulnerability_ids: [id] });
      const again = await reread(seen, others);
      expect(again && identityOf(again).weakness).toBe(id);
    }),
  );
});
