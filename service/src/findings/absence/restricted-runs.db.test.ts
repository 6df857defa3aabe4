import type { Asset, Observation, RunFacts } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type Item, image, inLib, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();

const shop: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const host: Asset = { type: 'host', name: 'web.example.com' };
const scope = (day: number, asset?: Asset) => ({
  coverage: 'complete' as const,
  started_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
  ...(asset ? { asset: { type: asset.type, name: asset.name } } : {}),
});

/** Imports a scan and a later one, in both orders. Returns the status of the findings that only the first one has. */
async function statusOf(first: readonly Item[], second: readonly Item[], asset?: Asset): Promise<string[]> {
  const org = await engine.organization();
  await engine.run(org, first, { scope: scope(1, asset) });
  const before = new Set((await engine.findings(org)).map(({ id }) => id));
  await engine.run(org, second, { scope: scope(8, asset) });
  const missing = (await engine.findings(org)).filter(({ id, weakness }) => before.has(id) && !second.some((item) => isOf(item, weakness)));
  return missing.map(({ status }) => status);
}

const isOf = (item: Item, weakness: string): boolean => 'vulnerability_ids' in item && weakness.endsWith(item.vulnerability_ids[0] ?? item.rule ?? '-');
const facts = (run: RunFacts): Item => ({ run });
const other = inLib('other', { asset: shop, vulnerability_ids: ['CVE-2024-0009'] });
const known = inLib('lib', { asset: shop, location: { component: 'lib', version: '1.0', ecosystem: 'npm' } });

describe('an option of the tool', () => {
  it('that leaves out findings closes nothing, unless the finding was seen with it', async () => {
    const restricted = facts({ restrictions: ['severity-threshold=high'] });
    expect(await statusOf([known, other], [other, restricted], shop)).toEqual(['open']);
    expect(await statusOf([known, other, restricted], [other, restricted], shop)).toEqual(['verified']);
    expect(await statusOf([known, other, restricted], [other], shop)).toEqual(['verified']);
  });

  it('that leaves out one kind of findings closes none of that kind, however few there are', async () => {
    const secret = seen({ asset: shop, rule: 'secret', location: { path: '.env', line: 1 } });
    const withoutPackages = facts({ left_out: ['system_packages', 'libraries'] });
    expect(await statusOf([known, secret], [secret, withoutPackages], shop)).toEqual(['open']);
    expect(await statusOf([known, secret], [withoutPackages], shop)).toEqual(['open', 'verified']);
  });
});

describe('a finding in two folders', () => {
  const inFolders = (...folders: string[]) =>
    folders.map((folder) =>
      inLib('lib', { asset: shop, location: { component: 'lib', version: '1.0', ecosystem: 'npm', path: `${folder}/package-lock.json` } }),
    );
  const [web, unreadable] = [facts({ restrictions: ['target web'] }), facts({ restrictions: ['exclude=api'] })];
  const statusAfter = async (...runs: (readonly Item[])[]): Promise<string | undefined> => {
    const org = await engine.organization();
    for (const [n, items] of runs.entries()) await engine.run(org, items, { scope: scope(n + 1, shop) });
    return (await engine.findings(org)).find(({ location }) => location.component === 'lib')?.status;
  };

  it.each([
    ['of one folder', web],
    ['that leaves out one folder', unreadable],
  ])('stays open after scans %s, even if such a scan saw it last', async (_, option) => {
    const seenLast = [inFolders('web', 'api'), [...inFolders('web'), other, option], [other, option]];
    expect(await statusAfter(...seenLast)).toBe('open');
    expect(await statusAfter(...seenLast, [other])).toBe('verified');
  });

  it.each([
    ['leaves out the folder', [unreadable], []],
    ['only looks at the other folder', [web], []],
    ['says that something is hidden in the folder', [facts({ hidden_in: ['api'] })], []],
    ['skips the check in the folder', [], [{ rule: 'check', path: 'api/package-lock.json' }]],
  ])('keeps its place in the folder if a scan %s, in every order', async (_, options, skipped) => {
    const inBoth = inFolders('web', 'api').map((one) => ({ ...one, rule: 'check' }));
    for (const order of [
      [1, 8],
      [8, 1],
    ]) {
      const org = await engine.organization();
      for (const day of order) {
        const id = await engine.start(org, day === 1 ? inBoth : [...inBoth.slice(0, 1), ...options], { scope: scope(day, shop) });
        const about = async () => ({ tools: null, finished: true, unread: [], skipped });
        await engine.attempt(org, id, {}, (format) => (day === 1 ? format : { ...format, about }));
      }
      const { rows } = await engine.admin().query('select label, state from occurrences where org_id = $1 order by label', [org]);
      expect(rows).toEqual([
        { label: 'path api/package-lock.json', state: 'present' },
        { label: 'path web/package-lock.json', state: 'present' },
      ]);
      expect(await engine.findings(org)).toMatchObject([{ status: 'open' }]);
    }
  });

  it('is gone after a scan of one folder if only such scans have seen it', async () => {
    expect(await statusAfter([other], [...inFolders('web'), other, web], [other, web])).toBe('verified');
  });

  it('stays open if the scans of its folders are different sources, until both no longer show it', async () => {
    const org = await engine.organization();
    const run = (path: string, day: number, items: readonly Item[]) => engine.run(org, items, { scope: { ...scope(day, shop), path } });
    const status = async () => (await engine.findings(org)).find(({ location }) => location.component === 'lib')?.status;
    await run('web', 1, inFolders('.'));
    await run('api', 2, inFolders('.'));
    await run('api', 3, [other]);
    expect(await status()).toBe('open');
    await run('web', 4, [other]);
    expect(await status()).toBe('verified');
  });
});

it('a scan of something of another type than the scope says proves nothing, unless the finding was seen by such a scan', async () => {
  const ofImage = inLib('lib', { asset: image });
  const folder = facts({ asset: { type: 'repository', name: '/src' } });
  expect(await statusOf([ofImage], [folder], image)).toEqual(['open']);
  const ofFolder = inLib('lib', { asset: { type: 'repository', name: '/src' } });
  expect(await statusOf([ofFolder], [folder], image)).toEqual(['verified']);
});

describe('a port that was not scanned', () => {
  const onPort = (port: number, protocol = 'tcp'): Observation => seen({ asset: host, rule: `check-${port}`, location: { port, protocol } });
  it.each([
    ['outside of the range', ['tcp/1-1024'], 'open'],
    ['of another protocol', ['udp/1-65535'], 'open'],
    ['in one of the ranges', ['tcp/1-1024', 'tcp/8443'], 'verified'],
    ['in a range of any protocol', ['any/1-65535'], 'verified'],
  ])('closes nothing on it: %s', async (_name, ports, status) => {
    expect(await statusOf([onPort(22), onPort(8443)], [onPort(22), facts({ ports })])).toEqual([status]);
  });
});

describe('a component that the report lists', () => {
  const listed = (version: string): Item => facts({ components: [{ name: 'Lib', version }] });

  it('in the same version was not fixed, and in another one or not at all it was', async () => {
    expect(await statusOf([known, other], [other, listed('1.0')], shop)).toEqual(['withdrawn']);
    expect(await statusOf([known, other], [other, listed('1.1')], shop)).toEqual(['verified']);
    expect(await statusOf([known, other], [other, facts({ components: [{ name: 'x', version: '1.0' }] })], shop)).toEqual(['verified']);
  });

  it.each([
    ['components', listed('1.0')],
    ['other components', listed('1.1')],
    ['checks', facts({ checks: ['check'] })],
    ['other checks', facts({ checks: ['none'] })],
    ['files', facts({ files: ['src/a.ts', 'src/b.ts'] })],
    ['fewer files', facts({ files: ['src/c.ts'] })],
    ['ports', facts({ ports: ['tcp/1-1024'] })],
    ['fewer ports', facts({ ports: ['udp/1-1024', 'tcp/1-22'] })],
    ['kinds that are left out', facts({ left_out: ['system_packages', 'libraries'] })],
    ['options that leave out findings', facts({ restrictions: ['--only-fixed'] })],
    ['the same options', facts({ restrictions: ['--severity'] })],
  ])('gives the same result if the older report arrives late: %s', async (_name, list) => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    const code = seen({ asset: shop, rule: 'check', location: { path: 'src/a.ts', line: 3 } });
    const port = seen({ asset: shop, rule: 'port', location: { port: 443, protocol: 'tcp' } });
    const older = [known, code, port, facts({ files: ['src/a.ts', 'src/b.ts', 'src/d.ts'], restrictions: ['--severity'] })];
    const newer = [other, list];
    const state = async (org: string) => (await engine.findings(org)).map(({ weakness, location, status }) => [weakness, location.component, status]);
    await engine.run(forward, older, { scope: scope(1, shop) });
    await engine.run(forward, newer, { scope: scope(8, shop) });
    await engine.run(late, newer, { scope: scope(8, shop) });
    await engine.run(late, older, { scope: scope(1, shop) });
    expect(await state(late)).toEqual(await state(forward));
  });
});

describe('a scan', () => {
  it('of a host that did not come to its end closes nothing there', async () => {
    const check = seen({ asset: host, rule: 'check', location: { port: 22 } });
    expect(await statusOf([check], [facts({ asset: host, unfinished: true })])).toEqual(['open']);
    expect(await statusOf([check], [facts({ asset: host })])).toEqual(['verified']);
  });

  it('that was started in another folder closes nothing', async () => {
    const inFile = (path: string) => seen({ asset: shop, rule: `rule of ${path}`, location: { path, line: 1 } });
    const first = [inFile('src/a.ts'), inFile('src/b.ts'), facts({ files: ['src/a.ts', 'src/b.ts'] })];
    expect(await statusOf(first, [facts({ files: ['a.ts', 'b.ts'] })], shop)).toEqual(['open', 'open']);
    expect(await statusOf(first, [inFile('src/b.ts'), facts({ files: ['src/b.ts', 'a.ts'] })], shop)).toEqual(['verified']);
  });

  it('that lists no longer a file whose finding was seen without a list closes it when the next scan agrees, and not when the same report comes again', async () => {
    const org = await engine.organization();
    const listed = facts({ files: ['src/b.ts'] });
    const status = async () => (await engine.findings(org)).map((finding) => finding.status);
    await engine.run(org, [seen({ asset: shop, rule: 'check', location: { path: 'src/a.ts', line: 1 } })], { scope: scope(1, shop) });
    for (const day of [2, 2]) await engine.run(org, [listed], { scope: scope(day, shop) });
    expect(await status()).toEqual(['open']);
    await engine.run(org, [listed], { scope: scope(3, shop) });
    expect(await status()).toEqual(['verified']);
  });

  it('of a lower version within a day of a higher one says nothing about that', async () => {
    const org = await engine.organization();
    const build = (version: string): Asset => ({ ...image, name: `registry.example.com/shop:${version}` });
    const scan = (version: string, time: string, items: readonly Item[] = []) =>
      engine.run(org, [...items, facts({ asset: build(version) })], { scope: { coverage: 'complete', started_at: time } });
    await scan('1.4.2', '2026-01-01T06:00:00Z', [inLib('lib', { asset: build('1.4.2') })]);
    const { notes } = await scan('1.3.0', '2026-01-01T09:00:00Z');
    expect(notes).toEqual([expect.stringContaining('a higher version of the same release line')]);
    expect(await engine.findings(org)).toMatchObject([{ status: 'open' }]);
    await scan('1.4.3', '2026-01-01T12:00:00Z');
    expect(await engine.findings(org)).toMatchObject([{ status: 'verified' }]);
  });
});
