import type { Asset, Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { listFindings } from '../list/list.ts';
import { type FindingPatch, updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const shop: Asset = { type: 'web_application', name: 'https://shop.example.com' };
const repository: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const injection = (page: string, given: Partial<Observation> = {}) =>
  seen({
    asset: shop,
    tool: 'zap',
    rule: '40018',
    title: 'SQL injection',
    location: { url: `https://shop.example.com${page}`, method: 'GET', parameter: 'id' },
    ...given,
  });
const lodash = (path: string, version: string, given: Partial<Observation> = {}) =>
  seen({ asset: repository, vulnerability_ids: ['CVE-2021-23337'], location: { component: 'lodash', ecosystem: 'npm', version, path }, ...given });
const run = (items: readonly Observation[], day: number, options: ImportOptions & { complete?: boolean } = {}) =>
  engine.run(org, items, { ...options, scope: { started_at: at(day), coverage: options.complete === false ? 'partial' : 'complete', ...options.scope } });
const patch = async (change: FindingPatch) => {
  const [finding] = await engine.findings(org);
  await engine
    .db()
    .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: finding?.id ?? '', patch: change, check: () => {} }, engine.follower));
};
const search = (q: string) =>
  engine.db().withTenant({ orgId: org }, async (tx) => {
    const page = { limit: 10, sort: 'created_at', total: 'exact', position: null, seal: JSON.stringify } as const;
    return (await listFindings(tx, org, { q }, page)).data.length;
  });
const dismiss = { status: 'false_positive', justification: 'code_not_reachable', reason: 'only in tests' } as const;
const accept = { status: 'risk_accepted', owner: 'ada', reason: 'for now', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() } as const;
const state = async () =>
  (await engine.admin().query('select status, reason_code, place_count from findings where org_id = $1', [org])).rows as {
    status: string;
    reason_code: string | null;
    place_count: number;
  }[];
const placesNow = async () =>
  (await engine.admin().query('select label, state from occurrences where org_id = $1 order by label', [org])).rows.map(
    ({ label, state: is }) => `${label}: ${is}`,
  );

describe('places of a finding', () => {
  it('in a file that the tool did not read stay, and keep the finding open', async () => {
    const unread = async (items: readonly Observation[], day: number) => {
      const id = await engine.start(org, items, { scope: { started_at: at(day), coverage: 'complete', asset: repository } });
      await engine.attempt(org, id, {}, (format) => ({ ...format, about: async () => ({ tools: null, finished: true, unread: ['web'] }) }));
    };
    await run([lodash('api/package-lock.json', '4.17.20'), lodash('web/package-lock.json', '4.17.20')], 1);
    await unread([lodash('api/package-lock.json', '4.17.20')], 2);
    expect(await placesNow()).toEqual(['path api/package-lock.json: present', 'path web/package-lock.json: present']);
    await unread([], 3);
    expect(await state()).toMatchObject([{ status: 'open', place_count: 2 }]);
    await run([], 4, { scope: { asset: repository } });
    expect(await state()).toMatchObject([{ status: 'verified' }]);
  });

  it('are all kept, whatever the number of records', async () => {
    expect(await run([injection('/a'), injection('/b'), injection('/c')], 1)).toMatchObject({ received: 3, created: 1 });
    expect(await state()).toMatchObject([{ place_count: 3 }]);
    expect(await placesNow()).toEqual([
      'GET https://shop.example.com/a (id): present',
      'GET https://shop.example.com/b (id): present',
      'GET https://shop.example.com/c (id): present',
    ]);
  });

  it('go one by one, and the finding when all are gone', async () => {
    await run([lodash('web/package-lock.json', '4.17.15'), lodash('srv/package-lock.json', '3.0.0')], 1);
    await run([lodash('srv/package-lock.json', '3.0.0')], 2);
    expect(await state()).toMatchObject([{ status: 'open', place_count: 1 }]);
    expect(await placesNow()).toEqual(['path srv/package-lock.json: present', 'path web/package-lock.json: absent']);
  });

  it('add up in partial runs', async () => {
    await run([lodash('a/package-lock.json', '1')], 1, { complete: false });
    await run([lodash('b/package-lock.json', '2')], 2, { complete: false });
    expect(await state()).toMatchObject([{ place_count: 2 }]);
  });
});

describe('a decision', () => {
  it('covers the places it was made on, and a new one reopens the finding', async () => {
    await run([injection('/a'), injection('/b')], 1);
    await patch(dismiss);
    await run([injection('/b'), injection('/a')], 2);
    expect(await state()).toMatchObject([{ status: 'false_positive' }]);
    expect(await run([injection('/a'), injection('/b'), injection('/admin/delete')], 3)).toMatchObject({ reopened: 1 });
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence', place_count: 3 }]);
    await run([injection('/a'), injection('/b')], 4);
    expect(await state()).toMatchObject([{ status: 'false_positive', reason_code: 'decision_resumed' }]);
  });

  it('holds again if a report that shows nothing new ends the new place', async () => {
    const [known, added] = [lodash('web/package-lock.json', '4.17.15'), lodash('srv/package-lock.json', '3.0.0')];
    await run([known], 1);
    await patch(dismiss);
    await run([known, added], 2);
    await run([known], 3, { complete: false });
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence', place_count: 2 }]);
    expect(await run([known], 4)).toMatchObject({ unchanged: 1, updated: 0 });
    expect(await state()).toMatchObject([{ status: 'false_positive', reason_code: 'decision_resumed', place_count: 1 }]);
  });

  it('does not hide a new place that only a report shows that arrives late', async () => {
    const [known, added] = [lodash('web/package-lock.json', '4.17.15'), lodash('srv/package-lock.json', '3.0.0')];
    await run([known], 1);
    await patch(dismiss);
    await run([known], 5, { complete: false });
    expect(await run([known, added], 3, { complete: false })).toMatchObject({ updated: 0 });
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence', place_count: 2 }]);
  });

  it('holds again if the finding comes back only where it was made, after all of it was gone', async () => {
    await run([injection('/a')], 1);
    await patch(dismiss);
    await run([injection('/a'), injection('/b')], 2);
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence' }]);
    await run([], 3, { scope: { asset: { type: 'web_application', name: 'https://shop.example.com' } } });
    expect(await state()).toMatchObject([{ status: 'verified' }]);
    await run([injection('/a')], 4);
    expect(await state()).toMatchObject([{ status: 'false_positive', reason_code: 'decision_resumed' }]);
    await run([injection('/a'), injection('/b')], 5);
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence' }]);
  });

  it('on one copy of a library does not hide another copy', async () => {
    await run([lodash('web/package-lock.json', '4.17.15')], 1);
    await patch(dismiss);
    await run([lodash('web/package-lock.json', '4.17.16')], 2);
    expect(await state()).toMatchObject([{ status: 'false_positive' }]);
    await run([lodash('web/package-lock.json', '4.17.16'), lodash('srv/prod/package-lock.json', '3.0.0')], 3);
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence' }]);
  });

  it('on the whole finding covers new places', async () => {
    await run([injection('/a')], 1);
    await patch({ ...dismiss, scope: 'finding' });
    await run([injection('/a'), injection('/b')], 2);
    expect(await state()).toMatchObject([{ status: 'false_positive' }]);
  });

  it('survives eight versions and a second tool that names the same place from another folder', async () => {
    const image = (version: string): Asset => ({ type: 'container_image', name: `pay:1.0.${version}` });
    const copy = (version: number, path: string) => lodash(path, `4.17.${version}`, { asset: image(String(version)) });
    await run([copy(1, 'app/lib/lodash/package.json')], 1);
    await patch(dismiss);
    for (let version = 2; version <= 8; version++) {
      await run([copy(version, 'app/lib/lodash/package.json')], version);
      await run([copy(version, '/srv/app/lib/lodash/package.json')], version, { source: 'tool_b' });
      expect(await state()).toMatchObject([{ status: 'false_positive' }]);
    }
  });
});

describe('an accepted risk', () => {
  it('becomes verified when it is gone, resumes when it is back in time, and ends when it is exploited', async () => {
    await run([injection('/a')], 1);
    await patch(accept);
    await run([], 2, { scope: { asset: { type: shop.type, name: shop.name } } });
    expect(await state()).toMatchObject([{ status: 'verified', reason_code: 'acceptance_fixed' }]);
    await run([injection('/a')], 3);
    expect(await state()).toMatchObject([{ status: 'risk_accepted', reason_code: 'acceptance_resumed' }]);
    await run([injection('/a', { known_exploited: true })], 4);
    expect(await state()).toMatchObject([{ status: 'open', reason_code: 'risk_increased' }]);
  });
});

describe('the search', () => {
  it('finds a finding by the words of all its records and sources that are present', async () => {
    await run([lodash('web/package-lock.json', '4.17.20'), lodash('api/yarn.lock', '4.17.19', { title: 'Command injection', cwes: [94] })], 1);
    expect(await engine.findings(org)).toHaveLength(1);
    for (const word of ['package-lock.json', 'api/yarn.lock', '4.17.19', 'injection', 'CWE-94', 'CVE-2021-23337'])
      expect([word, await search(word)]).toEqual([word, 1]);
    await run(
      [lodash('deploy/npm-shrinkwrap.json', '4.17.18', { title: 'Prototype pollution', vulnerability_ids: ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm'] })],
      2,
      {
        source: 'tool_b',
      },
    );
    for (const word of ['api/yarn.lock', 'npm-shrinkwrap.json', 'pollution', 'GHSA-35jh-r3h4-6jhm']) expect([word, await search(word)]).toEqual([word, 1]);
    await run([lodash('web/package-lock.json', '4.17.20')], 3);
    for (const [word, found] of Object.entries({ 'yarn.lock': 0, 'package-lock.json': 1, 'npm-shrinkwrap.json': 1 }))
      expect([word, await search(word)]).toEqual([word, found]);
  });
});

it('a place is there if a late report shows it after it had ended, in any order of the reports', async () => {
  const pages = { 1: ['/a'], 2: [], 3: ['/a', '/c'], 4: ['/c'] } as const;
  for (const order of [
    [1, 2, 3, 4],
    [1, 4, 2, 3],
    [1, 4, 3, 2],
    [4, 3, 2, 1],
  ] as const) {
    org = await engine.organization();
    for (const day of order) {
      const items = pages[day].map((page) => injection(page));
      await run(items, day, { complete: day < 3, scope: { asset: { type: shop.type, name: shop.name } } });
    }
    expect({ order, state: await state() }).toMatchObject({ order, state: [{ status: 'open', place_count: 2 }] });
  }
});
