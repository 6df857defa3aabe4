import type { AssetType } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Exports of one product that list different things. Each is complete, and says nothing about what only the others list. */
const engine = useImports();
const repository = { type: 'repository' as AssetType, name: 'https://git.example.com/shop' };

interface File {
  format: string;
  text: string;
}

const sonar = (list: 'issues' | 'hotspots', ...records: object[]): File => ({
  format: 'sonarqube',
  text: JSON.stringify({ paging: { pageIndex: 1, pageSize: 100, total: records.length }, [list]: records }),
});
const issue = { key: 'A', rule: 'java:S3649', severity: 'BLOCKER', component: 'shop:a.java', line: 3, message: 'SQL', status: 'OPEN', type: 'VULNERABILITY' };
const hotspot = { key: 'H', ruleKey: 'java:S5131', vulnerabilityProbability: 'HIGH', component: 'shop:a.java', line: 9, message: 'XSS', status: 'TO_REVIEW' };

/** The status of the only finding of the first file after the others, a week apart. */
async function statusAfter(asset: { type: AssetType; name: string }, files: readonly File[]): Promise<string | undefined> {
  const org = await engine.organization();
  for (const [n, { format, text }] of files.entries()) {
    const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 2 + 7 * n)).toISOString(), asset } as const;
    const { status, error } = await engine.runFile(org, { format, name: 'report', bytes: Buffer.from(text) }, scope);
    expect({ status, error }).toEqual({ status: 'succeeded', error: null });
  }
  return (await engine.findings(org))[0]?.status;
}

it.each<[string, typeof repository, File, File, File]>([
  ['hotspots of SonarQube', repository, sonar('issues', issue), sonar('hotspots'), sonar('issues')],
  ['issues of SonarQube', repository, sonar('hotspots', hotspot), sonar('issues'), sonar('hotspots')],
])('a list of %s closes only what such a list has shown', async (_, asset, found, other, same) => {
  expect(await statusAfter(asset, [found, other])).toBe('open');
  expect(await statusAfter(asset, [found, other, same])).toBe('verified');
});
