import type { Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { image, inLib, seen, useImports } from '../../testing/findings/imports.ts';
import type { ScanScope } from '../import/manage-imports.ts';

/** Findings that the tool was told to ignore, and later reports that may leave such findings out. */
const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();
const ignored = seen({ suppressed: true });
const other = inLib('other');
const scan = (day: number, found: readonly Observation[], scope: ScanScope = {}) =>
  engine.run(org, [{ run: { asset: image } }, ...found], { scope: { coverage: 'complete', started_at: at(day), ...scope } });
const status = async (component = 'lib') => (await engine.findings(org)).find(({ location }) => location.component === component)?.status;
const gaps = async () =>
  (await engine.admin().query('select gaps from sightings where org_id = $1 and gaps is not null', [org])).rows.flatMap((row) => row.gaps);

it('a report without any ignored finding does not verify one that was ignored', async () => {
  await scan(1, [ignored, other]);
  expect(await scan(3, [other])).toMatchObject({ closed: 0, notes: [expect.stringContaining('told to ignore')] });
  expect(await status()).toBe('open');
});

it('a report with another ignored finding verifies it', async () => {
  await scan(1, [ignored, inLib('other', { suppressed: true })]);
  await scan(3, [inLib('other', { suppressed: true })]);
  expect(await status()).toBe('verified');
});

it('whoever uploads the report can state that it has ignored findings, which is a gap', async () => {
  await scan(1, [ignored, other]);
  await scan(3, [other], { looked_for: ['suppressed'] });
  expect(await status()).toBe('verified');
  expect(await gaps()).toContain('search_unstated');
});

it('a finding that is no longer ignored can be verified by any report', async () => {
  await scan(1, [ignored, other]);
  await scan(2, [seen(), other]);
  await scan(3, [other], { looked_for: ['suppressed'] });
  expect(await status()).toBe('verified');
  expect(await gaps()).not.toContain('search_unstated');
});

it('a report that calls it fixed leaves it to the next one', async () => {
  await scan(1, [ignored, other]);
  await scan(2, [seen({ present: false }), other]);
  expect(await status()).toBe('remediated');
  await scan(3, [other]);
  expect(await status()).toBe('verified');
});

it('a connection asks for ignored findings', async () => {
  const collect = (day: number, items: readonly Observation[]) =>
    engine.collect(org, '11111111-1111-4111-8111-111111111111', {
      items: [{ run: { looked_for: ['suppressed'] } }, ...items],
      covers: [image],
      scope: { coverage: 'complete', started_at: at(day) },
    });
  await collect(1, [ignored, other]);
  await collect(3, [other]);
  expect(await status()).toBe('verified');
});

describe('reports that arrive late', () => {
  it('one that says that the tool ignores the finding opens it', async () => {
    await scan(3, [other]);
    await scan(1, [ignored, other]);
    expect(await status()).toBe('open');
  });

  it('one in between that says so reopens it', async () => {
    await scan(1, [seen(), other]);
    await scan(5, [other]);
    expect(await status()).toBe('verified');
    await scan(3, [ignored, other]);
    expect(await status()).toBe('open');
  });

  it('one that no longer says so lets the later scan prove the fix', async () => {
    await scan(1, [ignored, other]);
    await scan(5, [other]);
    expect(await status()).toBe('open');
    await scan(3, [seen(), other]);
    expect(await status()).toBe('verified');
  });

  it('a statement of the uploader is a gap as well', async () => {
    await scan(3, [other], { looked_for: ['suppressed'] });
    await scan(1, [ignored, other]);
    expect(await status()).toBe('verified');
    expect(await gaps()).toContain('search_unstated');
  });
});

const trivy = (day: number, listed: readonly string[], ignoredIds: readonly string[]) => {
  const entry = (id: string) => ({ VulnerabilityID: id, PkgName: `lib-${id}`, InstalledVersion: '1.0', Severity: 'HIGH' });
  const modified = ignoredIds.map((id) => ({ Type: 'vulnerability', Status: 'ignored', Source: '.trivyignore', Finding: entry(id) }));
  return {
    SchemaVersion: 2,
    CreatedAt: at(day),
    ArtifactName: `registry.example.com/shop:1.0.${day}`,
    ArtifactType: 'container_image',
    Results: [
      {
        Target: 'os',
        Class: 'os-pkgs',
        Type: 'debian',
        Vulnerabilities: listed.map(entry),
        ...(modified.length > 0 ? { ExperimentalModifiedFindings: modified } : {}),
      },
    ],
  };
};
const grype = (day: number, listed: readonly string[], ignoredIds: readonly string[]) => {
  const match = (id: string) => ({
    vulnerability: { id, severity: 'High' },
    relatedVulnerabilities: [],
    matchDetails: [],
    artifact: { name: `lib-${id}`, version: '1.0', type: 'deb', purl: `pkg:deb/debian/lib-${id}@1.0`, locations: [] },
  });
  return {
    matches: listed.map(match),
    ...(ignoredIds.length > 0 ? { ignoredMatches: ignoredIds.map((id) => ({ ...match(id), appliedIgnoreRules: [{ vulnerability: id }] })) } : {}),
    source: { type: 'image', target: { userInput: `registry.example.com/shop:1.0.${day}`, tags: [] } },
    descriptor: { name: 'grype', version: '0.90.0', timestamp: at(day), configuration: {}, db: {} },
  };
};

it.each([
  ['trivy', 'open', trivy],
  ['grype', 'verified', grype],
])('%s: an ignored finding that is missing is %s', async (format, expected, report) => {
  const send = (day: number, listed: readonly string[], ignoredIds: readonly string[]) =>
    engine.runFile(
      org,
      { format, name: 'report.json', bytes: Buffer.from(JSON.stringify(report(day, listed, ignoredIds))) },
      { coverage: 'complete', track: 'prod' },
    );
  await send(1, ['CVE-2024-0001'], ['CVE-2024-0002']);
  await send(3, ['CVE-2024-0001'], []);
  expect(await status('lib-CVE-2024-0002')).toBe(expected);
  await send(5, ['CVE-2024-0001'], ['CVE-2024-0003']);
  expect(await status('lib-CVE-2024-0002')).toBe('verified');
});
