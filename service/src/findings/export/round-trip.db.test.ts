import { readdirSync, readFileSync } from 'node:fs';
import { type AssetIdentifier, formats, fromBuffer, type Observation } from '@rrs/scan-reports';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { schemaChecks, schemasPresent } from '../../testing/evidence/published-schemas.ts';
import { image, inLib, seen, useImports } from '../../testing/findings/imports.ts';
import { type FindingPatch, updateFinding } from '../triage/triage.ts';
import { exportAssets, exportPages } from './export.ts';
import { exportFormats } from './formats.ts';

const engine = useImports();

/** The report format that reads each export format. */
const readers = { csv: 'rrs_csv', ndjson: 'rrs_ndjson', sarif: 'sarif', 'cyclonedx-vex': 'cyclonedx', openvex: 'openvex' } as const;
type Name = keyof typeof exportFormats;
const names = Object.keys(readers) as Name[];

async function exported(orgId: string, name: Name): Promise<{ format: string; name: string; bytes: Buffer }> {
  const db = engine.db();
  const started = new Date();
  const context = { organization: 'Acme', started, assets: () => exportAssets(db, orgId, {}, started) };
  const parts: string[] = [];
  for await (const part of exportFormats[name].write(exportPages(db, orgId, {}), context)) parts.push(part);
  return { format: readers[name], name: `findings.${exportFormats[name].extension}`, bytes: Buffer.from(parts.join('')) };
}

interface Described {
  [field: string]: unknown;
}

/** The original may know the source package from another report, which the copy does not have unless several packages are one finding. */
const ofSystemPackage = `(coalesce(f.component_key, '') ~ '^(deb|rpm|apk|alpm)/')`;

/** What identifies and describes each finding, without ids of rows and times. */
async function describedIn(orgId: string): Promise<Described[]> {
  const { rows } = await engine.admin().query<Described>(
    `select a.type as asset_type, a.name as asset, f.weakness, case when not ${ofSystemPackage} then encode(f.identity_key, 'hex') end as identity_key,
       case when ${ofSystemPackage} then f.location - 'source_package' else f.location end as location, f.title, f.severity, f.vulnerability_ids,
       f.rule, f.cwes, f.cvss_version, f.cvss_vector, f.cvss_score, f.component, f.tags, f.malicious, f.exploit_maturity, f.fix_state, f.fix_published_date, f.first_seen, f.last_seen, t.description, t.solution, t.reference_urls,
       (select bool_and(s.suppressed) from sightings s where s.org_id = f.org_id and s.finding_id = f.id) as suppressed, f.place_count,
       (select array_agg(distinct place.label order by place.label) from (
         select s.place as label from sightings s where s.org_id = f.org_id and s.finding_id = f.id and s.place is not null and s.state = 'present'
         union select o.label from occurrences o where o.org_id = f.org_id and o.finding_id = f.id and o.state = 'present') place) as places
     from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     left join finding_texts t on t.org_id = f.org_id and t.id = f.text_id
     where f.org_id = $1 and f.status not in ('verified', 'withdrawn') order by a.type, a.name, f.weakness, f.location::text, f.identity_key`,
    [orgId],
  );
  return rows.map((row) => ({ ...row, vulnerability_ids: withWeakness(row), ...withoutPlace(row) }));
}

/** A finding in several places shows one of them, and which one follows from all that the records say. */
function withoutPlace({ location, component, place_count }: Described): Described {
  if (place_count === 1) return { location, component };
  const { path, line, end_line, url, method, parameter, version, component: _, purl, layer, ...rest } = location as Described;
  return { location: rest, component: null };
}

/** A copy also has the id that identifies the finding, if its sources know it only by an alias. */
function withWeakness({ weakness, vulnerability_ids }: Described): string[] {
  const ids = vulnerability_ids as string[];
  return ids.length === 0 || /[:+]/.test(String(weakness)) ? ids : [...new Set([String(weakness), ...ids])];
}

/** OpenVEX has no field for the others. */
const VEX_FIELDS = [
  'asset_type',
  'asset',
  'weakness',
  'rule',
  'identity_key',
  'location',
  'title',
  'severity',
  'suppressed',
  'vulnerability_ids',
  'component',
  'place_count',
  'places',
];
const comparable = (name: Name, rows: readonly Described[]): Described[] =>
  name === 'openvex' ? rows.map((row) => Object.fromEntries(VEX_FIELDS.map((field) => [field, row[field]]))) : [...rows];

/** Findings of every format, and a few that are hard to tell apart. */
async function fill(orgId: string): Promise<void> {
  const folder = new URL('../../../../scan-reports/src/formats/', import.meta.url);
  const items: Observation[] = [];
  for (const format of formats)
    for (const name of readdirSync(new URL(`${format.id}/fixtures/`, folder)))
      for await (const item of format.read(fromBuffer(readFileSync(new URL(`${format.id}/fixtures/${name}`, folder)), name)))
        if ('observation' in item)
          items.push({
            ...item.observation,
            external_id: null,
            asset: item.observation.asset ?? { type: 'repository', name: `https://git.example.com/${format.id}` },
          });
  await engine.run(orgId, items);
  const web = { type: 'host', name: 'web1.example.com' } as const;
  const texts = { description: '-1, "quoted"\r\n\r\nand; more', solution: "'=1+1", references: ['https://example.com/a;b?c=1', 'https://example.com/d'] };
  await engine.run(orgId, [
    inLib('lib-a', { title: '=cmd|" /C calc"!A0, and more', ...texts }),
    inLib('lib-mal', { title: 'A package that steals tokens', malicious: true }),
    inLib('lib-old', { title: 'Out of support', exploit_maturity: 'functional', fix_state: 'end_of_life' }),
    inLib('lib-rule', { title: 'A public id and a rule', rule: 'SNYK-PYTHON-PILLOW-5918878' }),
    inLib('lib-rule', { title: 'An advisory and a rule', rule: 'GHSA-2345-6789-cfgh', vulnerability_ids: ['GHSA-2345-6789-cfgh'] }),
    inLib('lib-muted', { title: 'Suppressed by its tool', suppressed: true }),
    inLib('lib-scored', { title: 'A score without a vector', cvss: [{ score: 7.5, version: '3.1' }] }),
    inLib('lib-b', { title: "'=a title with an apostrophe" }),
    inLib('lib-c', { title: '日本語 ✓ title', tags: ['a', 'b c'] }),
    seen({ rule: 'weak-cipher', asset: web, location: { port: 443, protocol: 'tcp' } }),
    seen({ rule: 'weak-cipher', asset: web, location: { port: 8443, protocol: 'tcp' } }),
    seen({ rule: 'a:b:c', location: { path: 'src/a b.ts', line: 7, fingerprint: 'x' } }),
    seen({ rule: 'a:b:c', location: { path: 'src/a b.ts', line: 7, fingerprint: 'y' } }),
    ...['app/lib/a.jar', 'app/lib/b.jar', 'opt/c.jar'].map((path, n) => inLib('several', { location: { component: 'several', version: `1.${n}`, path } })),
    ...['libssl3', 'openssl'].map((component) =>
      seen({ vulnerability_ids: ['CVE-2024-0007'], location: { component, ecosystem: 'deb', source_package: 'openssl', version: '3.0' } }),
    ),
    seen({ rule: 'open-bucket', location: { resource: 'aws_s3_bucket.logs' } }),
    seen({ rule: 'xss', location: { url: 'https://shop.example.com/a', method: 'GET', parameter: 'q' } }),
    seen({ rule: 'xss', location: { url: 'https://shop.example.com/a', method: 'POST', parameter: 'q' } }),
    seen({ vulnerability_ids: ['CVE-2024-1', 'CVE-2024-2'], location: { component: 'two' } }),
    seen({ vulnerability_ids: ['GHSA-2345-6789-cfgh'], location: { component: 'alias' } }),
  ]);
  // Another tool reveals that the alias is this CVE, which then identifies the finding.
  await engine.run(orgId, [inLib('other', { vulnerability_ids: ['CVE-2024-0009', 'GHSA-2345-6789-cfgh'] })], { source: 'tool_b' });
}

async function patch(orgId: string, title: string, ...patches: FindingPatch[]): Promise<void> {
  const finding = (await engine.findings(orgId)).find((one) => one.title === title);
  for (const change of patches)
    await engine
      .db()
      .withTenant({ orgId }, (tx) => updateFinding(tx, systemActor(orgId, 'Ada'), { id: finding?.id ?? '', patch: change, check: () => {} }, engine.follower));
}

let original: string;
beforeAll(async () => {
  original = await engine.organization();
  await fill(original);
}, 120_000);

describe.each(names)('an export as %s', (name) => {
  it('gives the same findings in a new organization', async () => {
    const copy = await engine.organization();
    const before = await describedIn(original);
    const run = await engine.runFile(copy, await exported(original, name));
    expect(run).toMatchObject({ status: 'succeeded', created: before.length, rejected: 0 });
    expect(comparable(name, await describedIn(copy))).toEqual(comparable(name, before));
    expect(before.length).toBeGreaterThan(100);
    expect(before.filter(({ place_count }) => Number(place_count) > 1).length).toBeGreaterThanOrEqual(3);
  });

  it('creates no second finding in its own organization, and a second import changes nothing', async () => {
    const org = await engine.organization();
    await engine.runFile(org, await exported(original, 'ndjson'));
    const before = await describedIn(org);
    const file = await exported(org, name);
    expect(await engine.runFile(org, file)).toMatchObject({ created: 0, reopened: 0, rejected: 0, updated: expect.any(Number) });
    const identities = (rows: readonly Described[]) => rows.map(({ asset, weakness, identity_key }) => [asset, weakness, identity_key]);
    expect(identities(await describedIn(org))).toEqual(identities(before));
    expect(await engine.runFile(org, file)).toMatchObject({ created: 0, updated: 0, reopened: 0 });
  });

  it('finds hosts again that are known by more than their names', async () => {
    const org = await engine.organization();
    const host = (asset: string, kind: AssetIdentifier['kind'], value: string) =>
      seen({ rule: 'weak-cipher', asset: { type: 'host', name: asset, identifiers: [{ kind, value }] }, location: { port: 443, protocol: 'tcp' } });
    await engine.run(org, [
      host('db1', 'mac', '00:00:5e:00:53:01'),
      host('192.0.2.10', 'mac', '00:00:5e:00:53:02'),
      host('cloud1', 'cloud_id', 'i-0a'),
      host('twin', 'mac', '00:00:5e:00:53:03'),
      host('twin', 'mac', '00:00:5e:00:53:04'),
    ]);
    const assets = async (orgId: string) =>
      (await engine.admin().query<{ name: string }>('select name from assets where org_id = $1 order by name', [orgId])).rows.map((asset) => asset.name);
    const known = await assets(org);
    const file = await exported(org, name);
    expect(await engine.runFile(org, file)).toMatchObject({ created: 0, rejected: 0, notes: [] });
    expect(await assets(org)).toEqual(known);
    expect(await engine.runFile(org, file)).toMatchObject({ created: 0, updated: 0 });
    // In another organization, only the names tell which hosts are meant.
    const copy = await engine.organization();
    await engine.runFile(copy, file);
    expect(await engine.runFile(copy, file)).toMatchObject({ created: 0, updated: 0, notes: [] });
    expect(await assets(copy)).toEqual([...new Set(known)]);
  });

  it('says what people decided, and neither creates nor reopens what is closed', async () => {
    const org = await engine.organization();
    await engine.run(
      org,
      ['fixed', 'gone', 'wrong', 'accepted', 'open'].map((title) => inLib(title, { title })),
    );
    await patch(org, 'fixed', { status: 'remediated', reason: 'patched' }, { status: 'verified' });
    await patch(org, 'gone', { status: 'withdrawn', reason: 'out of scope' });
    await patch(org, 'wrong', { status: 'false_positive', justification: 'code_not_reachable' });
    await patch(org, 'accepted', { status: 'risk_accepted', reason: 'for now', owner: 'Ada', expires_at: new Date(Date.now() + 86_400_000).toISOString() });
    const file = await exported(org, name);
    const statuses = async (orgId: string) => Object.fromEntries((await engine.findings(orgId)).map(({ title, status }) => [title, status]));
    const decided = await statuses(org);
    await engine.runFile(org, file);
    expect(await statuses(org)).toEqual(decided);
    const copy = await engine.organization();
    await engine.runFile(copy, file);
    expect(await statuses(copy)).toEqual({ accepted: 'open', open: 'open', wrong: 'open' });
    const suppressed = (await engine.findings(copy)).filter(({ sightings }) => sightings.every((sighting) => sighting.suppressed));
    expect(suppressed.map(({ title }) => title).sort()).toEqual(['accepted', 'wrong']);
  });
});

it('has every place of a finding, with its version, state, source, track and times', async () => {
  const org = await engine.organization();
  const at = (path: string, version: string) => inLib('several', { title: 'several', location: { component: 'several', version, path } });
  const complete = { scope: { coverage: 'complete', asset: image } } as const;
  await engine.run(org, [at('a.jar', '1.0'), at('b.jar', '1.1'), at('c.jar', '1.2')], complete);
  await engine.run(org, [at('a.jar', '1.0'), at('b.jar', '1.1')], complete);
  await engine.run(org, [at('x/d.jar', '1.3')], { source: 'tool_b' });
  const text = async (name: Name) => (await exported(org, name)).bytes.toString();

  const finding = JSON.parse(await text('ndjson'));
  expect(finding.occurrence_count).toBe(4);
  expect(finding.occurrences).toMatchObject([
    { place: 'path a.jar', state: 'present', source: { provider: 'tool_a' }, track: 'prod', location: { path: 'a.jar', version: '1.0' } },
    { place: 'path b.jar', state: 'present' },
    { place: 'path c.jar', state: 'absent', first_seen: expect.any(String), last_seen: expect.any(String) },
    { place: 'path x/d.jar', state: 'present', source: { provider: 'tool_b' }, location: { version: '1.3' } },
  ]);
  const csv = await text('csv');
  expect(csv).toContain(',4,path a.jar; path b.jar; path x/d.jar,"[{""place"":""path a.jar""');
  const [result] = JSON.parse(await text('sarif')).runs[0].results;
  const uris = result.locations.map(
    ({ physicalLocation }: { physicalLocation: { artifactLocation: { uri: string } } }) => physicalLocation.artifactLocation.uri,
  );
  expect(uris).toEqual(['a.jar', 'b.jar', 'x/d.jar']);
  const [vulnerability] = JSON.parse(await text('cyclonedx-vex')).vulnerabilities;
  expect(vulnerability.properties.filter(({ name }: { name: string }) => name === 'rrs:occurrence')).toHaveLength(4);
  const [statement] = JSON.parse(await text('openvex')).statements;
  expect(statement.products[0].subcomponents).toHaveLength(3);
  for (const name of ['sarif', 'cyclonedx-vex', 'openvex'] as const)
    if (schemasPresent) expect(schemaChecks[name]()(JSON.parse(await text(name))), name).toBe(true);
});

it('recognizes each file without being told its format', async () => {
  const org = await engine.organization();
  await engine.run(org, [inLib('a'), seen({ rule: 'b' })]);
  for (const name of names) {
    const { format, ...file } = await exported(org, name);
    expect(await engine.runFile(org, { ...file, format: null }), name).toMatchObject({ format, created: 0 });
  }
});
