import type { Asset, Observation, RunFacts } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, type Item, seen, useImports } from '../../testing/findings/imports.ts';
import { acceptanceExpiry } from '../triage/expire-acceptances.ts';
import { updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

type Scope = NonNullable<ImportOptions['scope']>;
const at = (day: number, hour = 12): string => new Date(Date.UTC(2026, 0, day, hour)).toISOString();
const imageOf = (name: string, digest?: string): Asset => ({
  type: 'container_image',
  name,
  ...(digest ? { identifiers: [{ kind: 'digest', value: `sha256:${digest.repeat(64)}` }] } : {}),
});
const log4j = (asset: Asset, given: Partial<Observation> = {}) =>
  seen({ asset, vulnerability_ids: ['CVE-2021-44228'], severity: 'critical', location: { component: 'log4j-core', ecosystem: 'maven' }, ...given });
const other = (asset: Asset, given: Partial<Observation> = {}) =>
  seen({ asset, vulnerability_ids: ['CVE-2020-0001'], location: { component: 'zlib', ecosystem: 'deb' }, ...given });

/** A complete scan of an asset: the report names the asset even if nothing was found. */
const scan = (asset: Asset, items: readonly Item[], day: number, options: { scope?: Scope; source?: ImportOptions['source']; run?: RunFacts } = {}) =>
  engine.run(org, [...items, { run: { asset, ...options.run } }], {
    ...(options.source ? { source: options.source } : {}),
    scope: { coverage: 'complete', started_at: at(day), ...options.scope },
  });
const statuses = async () => Object.fromEntries((await engine.findings(org)).map(({ weakness, status }) => [weakness, status]));
const statusOf = async (weakness = 'CVE-2021-44228') => (await statuses())[weakness];

describe('versions and tracks', () => {
  it('a complete run of another tool on another version closes nothing', async () => {
    await scan(imageOf('pay:1.4.2'), [log4j(imageOf('pay:1.4.2'))], 1);
    await scan(imageOf('pay:1.4.3'), [], 2, { source: 'tool_b' });
    expect(await statusOf()).toBe('open');
  });

  it('a new version of the same line closes what it no longer has', async () => {
    await scan(imageOf('pay:1.4.2'), [log4j(imageOf('pay:1.4.2'))], 1);
    expect(await scan(imageOf('pay:1.4.3'), [], 2)).toMatchObject({ closed: 1 });
    expect(await engine.findings(org)).toMatchObject([{ asset: 'pay', status: 'verified' }]);
    const { rows } = await engine.admin().query(`select after from finding_history where org_id = $1 and action = 'status_changed'`, [org]);
    expect(rows).toMatchObject([{ after: { status: 'verified', track: '1.x', version: '1.4.3', scanned_at: expect.any(String) } }]);
  });

  it('a scan of the next major version says nothing about the one that is still scanned', async () => {
    for (const day of [1, 2, 3, 4, 5]) {
      await scan(imageOf('pay:1.4.9'), [log4j(imageOf('pay:1.4.9'))], day);
      expect(await scan(imageOf('pay:2.0.1'), [], day)).toMatchObject({ closed: 0 });
    }
    expect(await statusOf()).toBe('open');
    const { rows } = await engine.admin().query(`select 1 from events where org_id = $1 and type = 'finding.status_changed'`, [org]);
    expect(rows).toEqual([]);
  });

  it('a build that names no branch closes nothing and says what to do', async () => {
    await scan(imageOf('pay:prod'), [log4j(imageOf('pay:prod'))], 1);
    const commit = imageOf('pay:0f3c9ab1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8');
    expect(await scan(commit, [log4j(commit), other(commit)], 2)).toMatchObject({ closed: 0 });
    const row = await scan(imageOf('pay:1f3c9ab1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8'), [], 3);
    expect(row).toMatchObject({ closed: 0 });
    expect(JSON.stringify(row.notes)).toContain('track');
    expect(await statuses()).toEqual({ 'CVE-2021-44228': 'open', 'CVE-2020-0001': 'open' });
  });

  it('two tags of one digest are told apart once one of them moves', async () => {
    await scan(imageOf('pay:prod', 'a'), [log4j(imageOf('pay:prod', 'a'))], 1);
    await scan(imageOf('pay:staging', 'a'), [log4j(imageOf('pay:staging', 'a'))], 2);
    expect(await scan(imageOf('pay:staging', 'b'), [], 3)).toMatchObject({ closed: 0 });
    expect(await statusOf()).toBe('open');
    expect(await scan(imageOf('pay:prod', 'b'), [], 4)).toMatchObject({ closed: 1 });
  });

  it('a tag that goes back to an older build follows the last scan', async () => {
    await scan(imageOf('pay:latest', 'a'), [log4j(imageOf('pay:latest', 'a'))], 1);
    await scan(imageOf('pay:latest', 'b'), [], 2);
    expect(await statusOf()).toBe('verified');
    await scan(imageOf('pay', 'a'), [log4j(imageOf('pay', 'a'))], 3);
    expect(await statusOf()).toBe('open');
  });

  it('of twelve lock files, a fixed one closes only its own findings', async () => {
    const repository: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
    const lock = (n: number) => ({ path: `services/${n}`, asset: { type: repository.type, name: repository.name } });
    for (let n = 1; n <= 12; n++) await scan(repository, [log4j(repository)], 1, { scope: lock(n) });
    await scan(repository, [], 2, { scope: lock(3) });
    expect(await statusOf()).toBe('open');
    for (let n = 1; n <= 12; n++) await scan(repository, [], 3, { scope: lock(n) });
    expect(await statusOf()).toBe('verified');
  });
});

describe('what a run that sees less does not prove', () => {
  const image = imageOf('pay:prod');
  const many = (count: number, given: Partial<Observation>) =>
    Array.from({ length: count }, (_, n) => seen({ asset: image, vulnerability_ids: [`CVE-2022-${1000 + n}`], location: { component: `lib${n}` }, ...given }));

  it('a run that was restricted to high and critical closes no medium', async () => {
    const high = log4j(image, { severity: 'high' });
    await scan(image, [...many(12, { severity: 'medium' }), high, other(image, { severity: 'high' })], 1);
    const row = await scan(image, [high], 2);
    expect(row).toMatchObject({ closed: 1, notes: [expect.stringContaining('may have been restricted')] });
    expect(Object.values(await statuses()).filter((status) => status === 'open')).toHaveLength(13);
  });

  it('a run that was restricted to critical closes neither medium nor high', async () => {
    await scan(image, [...many(12, { severity: 'medium' }), log4j(image), other(image, { severity: 'high' })], 1);
    expect(await scan(image, [log4j(image)], 2)).toMatchObject({ closed: 0 });
  });

  it('a CVE that disappears while its component is still there in the same version was retracted, not fixed', async () => {
    const both = { component: 'openssl', version: '1.1.1k' };
    await scan(image, [log4j(image, { location: both }), other(image, { location: both })], 1);
    await scan(image, [other(image, { location: both })], 2);
    expect(await statuses()).toEqual({ 'CVE-2021-44228': 'withdrawn', 'CVE-2020-0001': 'open' });
  });

  it('what disappears from the same build was retracted', async () => {
    await scan(imageOf('pay:prod', 'a'), [log4j(imageOf('pay:prod', 'a'))], 1);
    await scan(imageOf('pay:prod', 'a'), [], 2);
    expect(await statusOf()).toBe('withdrawn');
  });

  it('an inventory says nothing about vulnerabilities', async () => {
    await scan(image, [log4j(image)], 1);
    expect(await scan(image, [], 2, { run: { inventory_only: true } })).toMatchObject({
      closed: 0,
      notes: [expect.stringContaining('inventory'), expect.stringContaining('inventory')],
    });
  });

  it.each([
    ['seen without credentials', false, false, 'verified'],
    ['seen only with credentials', true, false, 'open'],
    ['seen with credentials, absent without a statement', true, undefined, 'open'],
    ['seen with credentials, absent with them', true, true, 'verified'],
  ])('a host, %s', async (_, first, second, expected) => {
    const host: Asset = { type: 'host', name: 'web.example.com' };
    const facts = (credentialed: boolean | undefined): RunFacts => (credentialed === undefined ? {} : { credentialed });
    await scan(host, [other(host)], 1, { run: facts(first) });
    await scan(host, [], 2, { run: facts(second) });
    expect(await statusOf('CVE-2020-0001')).toBe(expected);
  });

  it('a finding that a run without credentials also saw can be closed by one', async () => {
    const host: Asset = { type: 'host', name: 'web.example.com' };
    await scan(host, [other(host)], 1, { run: { credentialed: true } });
    await scan(host, [other(host)], 2, { run: { credentialed: false } });
    await scan(host, [], 3, { run: { credentialed: false } });
    expect(await statusOf('CVE-2020-0001')).toBe('verified');
  });

  it('an old report of a run without credentials counts for the scans that follow', async () => {
    const host: Asset = { type: 'host', name: 'web.example.com' };
    await scan(host, [other(host)], 2, { run: { credentialed: true } });
    await scan(host, [], 3, { run: { credentialed: false } });
    await scan(host, [other(host)], 1, { run: { credentialed: false } });
    expect(await statusOf('CVE-2020-0001')).toBe('open');
    await scan(host, [], 4, { run: { credentialed: false } });
    expect(await statusOf('CVE-2020-0001')).toBe('verified');
  });

  it('a late report opens what a narrower scan left out', async () => {
    const low = (n: number) => other(image, { vulnerability_ids: [`CVE-2020-1${100 + n}`], severity: 'low' });
    await scan(image, [log4j(image)], 2);
    await scan(image, [log4j(image), ...Array.from({ length: 12 }, (_, n) => low(n))], 1);
    expect(Object.values(await statuses())).toEqual(Array(13).fill('open'));
  });

  it('a late report about what a scan without its check does not show opens it', async () => {
    const code: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
    await engine.run(org, [{ run: { asset: code } }, { run: { checks: ['sql'] } }], { scope: { coverage: 'complete', started_at: at(2) } });
    await scan(code, [seen({ asset: code, rule: 'xss', tool: 'lint', location: { path: 'a.ts', line: 1 } })], 1);
    expect(await statusOf('lint:xss')).toBe('open');
  });

  it('a run with an older vulnerability database closes nothing', async () => {
    const knowing = (day: number): RunFacts => ({ knowledge_at: new Date(at(day, 0)) });
    await scan(image, [log4j(image)], 5, { run: knowing(4) });
    expect(await scan(image, [], 6, { run: knowing(2) })).toMatchObject({ closed: 0, notes: [expect.stringContaining('older')] });
    expect(await scan(image, [], 7, { run: knowing(4) })).toMatchObject({ closed: 1 });
  });

  it('a report from the future opens and closes nothing', async () => {
    const time = new Date(Date.now() + 365 * 86_400_000);
    await scan(image, [log4j(image)], 1);
    await engine.run(org, [other(image), { run: { asset: image, started_at: time, finished_at: time } }], { scope: { coverage: 'complete' } });
    expect(await statuses()).toEqual({ 'CVE-2021-44228': 'open', 'CVE-2020-0001': 'open' });
  });

  it('a report of long ago closes nothing, and what newer scans no longer show is known to be fixed', async () => {
    const time = new Date('2000-01-01T00:00:00Z');
    await scan(image, [log4j(image)], 1);
    await engine.run(org, [other(image), { run: { asset: image, started_at: time, finished_at: time } }], { scope: { coverage: 'complete' } });
    expect(await statuses()).toEqual({ 'CVE-2021-44228': 'open', 'CVE-2020-0001': 'verified' });
  });

  it('a check that the run did not enable closes nothing', async () => {
    const code: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
    const rule = (name: string) => seen({ asset: code, rule: name, tool: 'lint', location: { path: 'a.ts', line: 1, fingerprint: name } });
    await scan(code, [rule('sql'), rule('xss')], 1);
    await engine.run(org, [{ run: { asset: code } }, { run: { checks: ['sql'] } }], { scope: { coverage: 'complete', started_at: at(2) } });
    expect(Object.values(await statuses()).sort()).toEqual(['open', 'verified']);
  });
});

describe('claims', () => {
  const image = imageOf('pay:prod');
  it('a report that calls a finding fixed only declares it', async () => {
    await scan(image, [log4j(image)], 1);
    await engine.run(org, [log4j(image, { present: false })], { scope: { started_at: at(2) } });
    expect(await engine.findings(org)).toMatchObject([{ status: 'remediated', assurance: 'declared' }]);
  });

  it.each<[string, Partial<Observation>[], Partial<Observation>[]]>([
    ['again and again', [{}], [{ present: false }]],
    [
      'in one of two places',
      [{ location: { ...log4j(image).location, path: 'a.jar' } }, { location: { ...log4j(image).location, path: 'b.jar' } }],
      [{ present: false, location: { ...log4j(image).location, path: 'a.jar' } }],
    ],
    ['under another id', [{ external_id: 'ID-1' }], [{ present: false, external_id: 'ID-2' }]],
  ])('complete reports that call a finding fixed %s prove nothing, until one does not have it any more', async (_, found, fixed) => {
    await scan(image, [...found.map((given) => log4j(image, given)), other(image)], 1);
    for (const day of [2, 3, 3, 4]) {
      expect(await scan(image, [...fixed.map((given) => log4j(image, given)), other(image)], day)).toMatchObject({ closed: 0 });
      expect(['open', 'remediated']).toContain(await statusOf());
    }
    const { rows } = await engine.admin().query(`select distinct s.absence from sightings s join findings f on f.id = s.finding_id where f.org_id = $1`, [org]);
    expect(rows.map(({ absence }) => absence)).not.toContain('gone');
    expect(await scan(image, [other(image)], 5)).toMatchObject({ closed: 1 });
    expect(await statusOf()).toBe('verified');
  });
});

it('reports that call one of two places fixed hide nothing at the place that nobody has decided about', async () => {
  const image = imageOf('pay:prod');
  const place = (path: string, present = true) => log4j(image, { present, location: { ...log4j(image).location, path } });
  await scan(image, [place('a.jar'), other(image)], 1);
  const { rows } = await engine.admin().query(`select id from findings where org_id = $1 and weakness = 'CVE-2021-44228'`, [org]);
  const patch = { status: 'false_positive', justification: 'inaccurate_finding', reason: 'looked at' } as const;
  await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: rows[0].id, patch, check: () => {} }, engine.follower));
  await scan(image, [place('a.jar'), place('b.jar'), other(image)], 2);
  expect(await statusOf()).toBe('open');
  for (const day of [3, 4]) {
    await scan(image, [place('a.jar', false), other(image)], day);
    expect(await statusOf()).toBe('open');
  }
  await scan(image, [place('b.jar', false), place('a.jar', false), other(image)], 5);
  expect(['open', 'remediated']).toContain(await statusOf());
});

describe('an accepted risk', () => {
  const [prod, staging, qa] = [imageOf('pay:prod'), imageOf('pay:staging'), imageOf('pay:qa')];
  const accept = async () => {
    const [{ id } = { id: '' }] = await engine.findings(org);
    const patch = { status: 'risk_accepted', owner: 'ada', reason: 'for now', expires_at: new Date(Date.now() + 86_400_000).toISOString() } as const;
    await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id, patch, check: () => {} }, engine.follower));
  };
  const reason = async () => (await engine.admin().query('select status, reason_code from findings where org_id = $1', [org])).rows;

  it('is open again if it comes back on a track that was free of it', async () => {
    await scan(prod, [log4j(prod)], 1);
    await scan(staging, [log4j(staging)], 1);
    await scan(prod, [], 2);
    await accept();
    await scan(staging, [log4j(staging, { severity: 'high' })], 3);
    expect(await statusOf()).toBe('risk_accepted');
    await scan(prod, [log4j(prod)], 4);
    expect(await reason()).toEqual([{ status: 'open', reason_code: 'regression' }]);
  });

  it('is open again if another tool finds it on a track that was free of it, unless its scan is older', async () => {
    await scan(prod, [log4j(prod)], 2);
    await scan(staging, [log4j(staging)], 2);
    await scan(prod, [], 3);
    await accept();
    await scan(prod, [log4j(prod)], 1, { source: 'tool_b' });
    expect(await statusOf()).toBe('risk_accepted');
    await scan(prod, [], 3, { source: 'tool_b' });
    await scan(prod, [log4j(prod)], 4, { source: 'tool_c' });
    expect(await reason()).toEqual([{ status: 'open', reason_code: 'regression' }]);
    const { rows } = await engine.admin().query(`select after from finding_history where org_id = $1 order by occurred_at desc, id desc limit 1`, [org]);
    expect(rows).toMatchObject([{ after: { reason_code: 'regression', track: 'prod', scanned_at: expect.stringContaining('2026-01-04') } }]);
  });

  it('is open when it expires, if a report only states that the finding is fixed', async () => {
    await scan(prod, [log4j(prod)], 1);
    await accept();
    await engine.run(org, [log4j(prod, { present: false })], { scope: { started_at: at(2) } });
    await engine.admin().query(`update findings set acceptance_expires_at = now() where org_id = $1`, [org]);
    const context = { db: engine.db(), log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
    await acceptanceExpiry(engine.follower).run({}, context);
    expect(await reason()).toEqual([{ status: 'open', reason_code: 'acceptance_expired' }]);
  });

  it('holds if complete reports only state that the finding is fixed', async () => {
    await scan(prod, [log4j(prod), other(prod)], 1);
    const { rows } = await engine.admin().query(`select id from findings where org_id = $1 and weakness = 'CVE-2021-44228'`, [org]);
    const patch = { status: 'risk_accepted', owner: 'ada', reason: 'for now', expires_at: new Date(Date.now() + 86_400_000).toISOString() } as const;
    await engine
      .db()
      .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: rows[0].id, patch, check: () => {} }, engine.follower));
    for (const day of [2, 3]) await scan(prod, [log4j(prod, { present: false }), other(prod)], day);
    expect(await statusOf()).toBe('risk_accepted');
  });

  it('holds on new tracks', async () => {
    await scan(prod, [log4j(prod)], 1);
    await accept();
    await scan(qa, [log4j(qa)], 2);
    expect(await statusOf()).toBe('risk_accepted');
  });
});

describe('the limit for closures', () => {
  it('counts what a source closes within a day, over all its reports', async () => {
    const repositories = Array.from({ length: 7 }, (_, n): Asset => ({ type: 'repository', name: `https://github.com/acme/repo-${n}` }));
    for (const repository of repositories) {
      const items = Array.from({ length: 10 }, (_, n) =>
        seen({ asset: repository, vulnerability_ids: [`CVE-2022-${1000 + n}`], location: { component: `lib${n}` } }),
      );
      await scan(repository, items, 1);
    }
    const results = [];
    for (const repository of repositories) results.push((await scan(repository, [], 2)).status);
    expect(results).toEqual([...Array(5).fill('succeeded'), 'needs_confirmation', 'needs_confirmation']);
  });
});
