import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { type FindingPatch, updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const image: Asset = { type: 'container_image', name: 'registry.example.com/pay:main' };
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const scan = (day: number, paths: readonly string[], { source = 'tool_a', track = 'main' }: { source?: 'tool_a' | 'tool_b'; track?: string } = {}) => {
  const items = paths.map((path) =>
    seen({ asset: image, location: { component: 'lib', ecosystem: 'generic', version: /\d+\.\d+\.\d+/.exec(path)?.[0] ?? '1', path } }),
  );
  return engine.run(org, items, { source, scope: { asset: image, track, started_at: at(day), coverage: 'complete' } });
};
const decide = async (patch: FindingPatch) => {
  const [finding] = await engine.findings(org);
  await engine
    .db()
    .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: finding?.id ?? '', patch, check: () => {} }, engine.follower));
};
const dismiss = { status: 'false_positive', justification: 'code_not_reachable', reason: 'only in tests' } as const;
const accept = { status: 'risk_accepted', owner: 'ada', reason: 'for now', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() } as const;
const state = async () => (await engine.admin().query('select status, reason_code from findings where org_id = $1', [org])).rows;
const reopened = [{ status: 'open', reason_code: 'new_occurrence' }];

const jar = (version: number) => `app/lib/log4j-core-2.${version}.0.jar`;
const wheel = (version: number) => `usr/lib/python3/site-packages/urllib3-1.26.${version}.dist-info/METADATA`;

describe.each([
  ['a false positive', dismiss],
  ['an accepted risk', accept],
])('%s', (_, patch) => {
  it.each([
    ['a jar', jar],
    ['a Python package', wheel],
  ])('survives eight versions of %s whose path contains the version, with two tools', async (_, path) => {
    await scan(1, [path(1)]);
    await decide(patch);
    for (let version = 2; version <= 8; version++) {
      await scan(version, [path(version)]);
      expect(await state()).toMatchObject([{ status: patch.status }]);
      await scan(version, [`/srv/${path(version)}`], { source: 'tool_b' });
      expect(await state()).toMatchObject([{ status: patch.status }]);
    }
  });

  it('does not hide another copy next to the first one', async () => {
    await scan(1, [jar(16)]);
    await decide(patch);
    await scan(2, [jar(16), jar(17)]);
    expect(await state()).toMatchObject(reopened);
    await scan(3, [jar(17)]);
    expect(await state()).toMatchObject([{ status: patch.status }]);
    await scan(4, [jar(18), jar(19)]);
    expect(await state()).toMatchObject(reopened);
  });

  it('does not hide another copy that only a second tool shows', async () => {
    await scan(1, [jar(16)]);
    await decide(patch);
    await scan(2, [`srv/${jar(16)}`], { source: 'tool_b' });
    expect(await state()).toMatchObject([{ status: patch.status }]);
    await scan(3, [`srv/${jar(16)}`, `srv/${jar(17)}`], { source: 'tool_b' });
    expect(await state()).toMatchObject(reopened);
  });

  it('does not hide a copy in a new folder', async () => {
    await scan(1, [jar(16)]);
    await decide(patch);
    await scan(2, [jar(17).replace('lib', 'plugins')]);
    expect(await state()).toMatchObject(reopened);
  });
});

it('a decision covers an upgrade on one track while another one still has the old version', async () => {
  await scan(1, [jar(16)]);
  await scan(1, [jar(16)], { track: 'staging' });
  await decide(dismiss);
  await scan(2, [jar(17)], { track: 'staging' });
  expect(await state()).toMatchObject([{ status: 'false_positive' }]);
});

it('a decision covers the upgrade of several copies, and not of one next to another that stayed', async () => {
  const copies = (version: number) => ['python3.9', 'python3.10'].map((python) => wheel(version).replace('python3', python));
  await scan(1, copies(5));
  await decide(dismiss);
  await scan(2, copies(6));
  expect(await state()).toMatchObject([{ status: 'false_positive' }]);
  await scan(3, [...copies(5), ...copies(6)]);
  expect(await state()).toMatchObject(reopened);
});
