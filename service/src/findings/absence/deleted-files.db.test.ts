import type { Asset, RunFacts } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type Item, seen, useImports } from '../../testing/findings/imports.ts';
import { uploadsTo } from '../../testing/findings/uploads.ts';
import type { ScanScope } from '../import/manage-imports.ts';

/** Findings in files that are not among those that a later run lists as read. */
const engine = useImports();

const { upload, statuses } = uploadsTo(engine);

const shop: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const whole: ScanScope = { path: '.' };
const sightings = `select f.location->>'path' as path, f.status, s.state, s.gaps, s.missed_because from sightings s join findings f on f.org_id = s.org_id and f.id = s.finding_id
  where s.org_id = $1 order by 1`;

const inFile = (path: string): Item => seen({ asset: shop, rule: 'eval', location: { path, line: 1 } });
const read = (...files: string[]): Item => ({ run: { files } satisfies RunFacts });
const first = [inFile('src/a.ts'), read('src/a.ts', 'src/b.ts')];

/** Imports a scan and a later one. Returns what is known about the finding of the first one. */
async function sightingAfter(older: readonly Item[], newer: readonly Item[], scope: ScanScope, order = [1, 8]): Promise<unknown> {
  const org = await engine.organization();
  for (const day of order) {
    const of = { coverage: 'complete', asset: { type: shop.type, name: shop.name }, started_at: `2026-01-0${day}T00:00:00Z` } as const;
    await engine.run(org, day === 1 ? older : newer, { scope: day === 1 ? of : { ...of, ...scope } });
  }
  return (await engine.admin().query(sightings, [org])).rows.find(({ path }) => path === 'src/a.ts');
}

describe('a file of two that is deleted', () => {
  it('may not have been read', async () => {
    expect(await sightingAfter(first, [read('src/b.ts')], {})).toMatchObject({ status: 'open', missed_because: ['not_read'] });
  });

  it.each([
    ['', first],
    [', although the earlier run lists no files,', [inFile('src/a.ts')]],
  ])('was removed%s if the scope says that all of the repository was scanned, in every order', async (_, older) => {
    const closed = { status: 'verified', state: 'absent', gaps: ['checks_unstated', 'part_unstated'] };
    expect(await sightingAfter(older, [read('src/b.ts')], whole)).toMatchObject(closed);
    expect(await sightingAfter(older, [read('src/b.ts')], whole, [8, 1])).toMatchObject(closed);
  });

  it('was not stated to be removed if the list is long enough to tell', async () => {
    for (const order of [
      [1, 8],
      [8, 1],
    ])
      expect(await sightingAfter(first, [read('src/b.ts', 'src/c.ts')], whole, order)).toMatchObject({ status: 'verified', gaps: ['checks_unstated'] });
  });

  it.each([
    ['lists no files', []],
    ['was started in another folder', [read('a.ts')]],
  ])('stays open if the run %s, whatever the scope says', async (_, newer) => {
    expect(await sightingAfter(first, newer, whole)).toMatchObject({ status: 'open', missed_because: ['not_read'] });
  });
});

it.each([
  ['is not among the files', {}, 'verified'],
  ['was skipped', { skipped: [{ path: 'a.py', reason: 'exceeded_size_limit' }] }, 'open'],
])('a finding of Semgrep in a file that %s, if the scope says that all was scanned', async (_, paths, status) => {
  const org = await engine.organization();
  const semgrep = (found: string[], scanned: string[], more = {}) => ({
    version: '1.90.0',
    errors: [],
    results: found.map((path) => ({ check_id: 'A', path, start: { line: 1 }, end: { line: 1 }, extra: { message: path, severity: 'ERROR', metadata: {} } })),
    paths: { scanned, ...more },
  });
  await upload(org, 'semgrep', semgrep(['a.py'], ['a.py', 'b.py']), { started_at: '2026-01-01T00:00:00Z' });
  await upload(org, 'semgrep', semgrep([], ['b.py'], paths), { started_at: '2026-01-02T00:00:00Z', ...whole });
  expect(await statuses(org)).toEqual({ 'a.py': status });
});
