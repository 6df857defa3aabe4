import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, inLib, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const repository: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const scan = (track: string | undefined, components: readonly string[], day: number, scope: ImportOptions['scope'] = {}) =>
  engine.run(
    org,
    components.map((component) => inLib(component, { asset: repository })),
    {
      scope: {
        coverage: 'complete',
        asset: { type: repository.type, name: repository.name },
        started_at: at(day),
        ...(track === undefined ? {} : { track }),
        ...scope,
      },
    },
  );
const state = async () =>
  (await engine.admin().query(`select location->>'component' as lib, status, listed, first_seen from findings where org_id = $1 order by 1`, [org])).rows as {
    lib: string;
    status: string;
    listed: boolean;
    first_seen: Date;
  }[];
const sightingCount = async () => Number((await engine.admin().query('select count(*) from sightings where org_id = $1', [org])).rows[0].count);

describe('pull requests', () => {
  it('add only what the other tracks do not have, unlisted, and change no status', async () => {
    await scan('main', ['a', 'b'], 1);
    const before = await sightingCount();
    expect(await scan('pr-17', ['b', 'c'], 2)).toMatchObject({ created: 1, closed: 0 });
    expect(await state()).toMatchObject([
      { lib: 'a', status: 'open', listed: true },
      { lib: 'b', status: 'open', listed: true },
      { lib: 'c', status: 'open', listed: false },
    ]);
    expect(await sightingCount()).toBe(before + 1);
    const { rows } = await engine.admin().query(`select 1 from events where org_id = $1 and type = 'finding.status_changed'`, [org]);
    expect(rows).toEqual([]);
  });

  it('that are merged list their findings from then on, and later scans of the pull request keep nothing open', async () => {
    await scan('main', ['a'], 1);
    await scan('pr-17', ['a', 'c'], 2);
    expect(await scan('main', ['a', 'c'], 5)).toMatchObject({ created: 1 });
    expect(await state()).toMatchObject([{}, { lib: 'c', status: 'open', listed: true, first_seen: new Date(at(5)) }]);
    await scan('pr-17', ['a', 'c'], 6);
    expect(await scan('main', ['a'], 7)).toMatchObject({ closed: 1 });
    expect(await state()).toMatchObject([{}, { lib: 'c', status: 'verified', listed: true }]);
  });

  it('are recognized by the reference that the report names', async () => {
    await scan('main', ['a'], 1);
    const merge: Asset = { ...repository, ref: 'refs/pull/17/merge' };
    await engine.run(org, [inLib('z', { asset: merge })], { scope: { started_at: at(2) } });
    expect(await state()).toMatchObject([
      { lib: 'a', listed: true },
      { lib: 'z', listed: false },
    ]);
  });
});

describe('a branch', () => {
  it('that is not well known is kept apart like a pull request, once the repository has another', async () => {
    await scan('main', ['a'], 1);
    const row = await scan('feature/login', ['x'], 2);
    expect(JSON.stringify(row.notes)).toContain('feature/login');
    expect(await state()).toMatchObject([
      { lib: 'a', listed: true },
      { lib: 'x', listed: false },
    ]);
  });

  it('that is the only one of its repository counts', async () => {
    await scan('feature/login', ['x'], 1);
    expect(await state()).toMatchObject([{ lib: 'x', listed: true }]);
  });

  it('that the policy names counts', async () => {
    await engine.admin().query(`update organizations set policy = '{"track_names": ["customer-*"]}' where id = $1`, [org]);
    await scan('main', ['a'], 1);
    await scan('customer-acme', ['x'], 2);
    expect(await state()).toMatchObject([
      { lib: 'a', listed: true },
      { lib: 'x', listed: true },
    ]);
  });

  it('called main is the default track, also of scans that did not name it', async () => {
    await scan(undefined, ['a', 'b'], 1);
    expect(await scan('main', ['a'], 2)).toMatchObject({ closed: 1 });
  });
});

it('a track that contradicts the report fails the import with a sentence and changes nothing', async () => {
  const main: Asset = { ...repository, ref: 'refs/heads/main' };
  const row = await engine.run(org, [inLib('a', { asset: main })], { scope: { track: 'release-1.4', coverage: 'complete' } });
  expect(row).toMatchObject({ status: 'failed', error: expect.stringContaining('Send the track that was scanned') });
  expect(await state()).toEqual([]);
});

it('a report about several assets cannot be given one asset', async () => {
  const other: Asset = { type: 'repository', name: 'https://github.com/acme/other' };
  const row = await engine.run(org, [inLib('a', { asset: repository }), inLib('a', { asset: other })], {
    scope: { asset: { type: 'repository', name: 'https://github.com/acme/third' } },
  });
  expect(row).toMatchObject({ status: 'failed', error: expect.stringContaining('several assets') });
  expect(await state()).toEqual([]);
});

it('the scope overrides what the report calls its asset, and a note says so', async () => {
  const row = await engine.run(org, [inLib('a', { asset: { type: 'repository', name: '/builds/acme/shop' } })], {
    scope: { asset: { type: 'repository', name: 'https://github.com/acme/shop' } },
  });
  expect(row).toMatchObject({ status: 'succeeded', notes: [expect.stringContaining('/builds/acme/shop')] });
  expect(await engine.findings(org)).toMatchObject([{ asset: 'github.com/acme/shop' }]);
});
