import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { normalPath } from '../identity/paths.ts';
import { filterFindings, ownFindings } from './filter.ts';
import { normalPathSql } from './path-filter.ts';
import { type FindingFilter, prepareFilter } from './prepare-filter.ts';

const engine = useImports();
let orgId: string;
beforeAll(async () => {
  orgId = await engine.organization();
});

const piece = fc.constantFrom(
  '/',
  '//',
  './',
  '../',
  '\\',
  'C:/',
  'd:\\',
  'file://',
  'src',
  'a.ts',
  '.',
  'app.jar:',
  'github/workspace',
  'home/runner/work',
  'a',
  '1/s',
  'shop/shop',
  'workspace/shop@2/',
);

it('a path has the same normal form in SQL', async () => {
  const paths = [...new Set(fc.sample(fc.array(piece, { minLength: 1, maxLength: 7 }), { numRuns: 3_000, seed: 1 }).map((pieces) => pieces.join('')))];
  const { rows } = await engine
    .db()
    .withTenant({ orgId }, (tx) =>
      sql<{ path: string; normal: string }>`select path, ${normalPathSql(sql`path`)} as normal from unnest(${paths}::text[]) path`.execute(tx),
    );
  // What consists of nothing else than slashes, dots and drives has no normal form.
  const isNameless = ({ path, normal }: (typeof rows)[number]) => normal === '/' && normalPath(path) === path;
  expect(rows.filter((row) => !isNameless(row) && row.normal !== `/${normalPath(row.path)}/`)).toEqual([]);
});

describe('the filter on paths', () => {
  const paths = {
    root: 'src/a.ts',
    absolute: '/src/b.ts',
    windows: 'C:\\src\\c.ts',
    workspace: '/home/runner/work/shop/shop/src/d.ts',
    nested: 'frontend/src/a.ts',
    deep: 'services/api/src/auth/login.ts',
    auth: 'src/auth/login.ts',
    file: 'src',
    archive: 'lib/app.jar:BOOT-INF/lib/x.jar',
    literal: 'src_/100%/a.ts',
  };
  beforeAll(async () => {
    await engine.run(
      orgId,
      Object.entries(paths).map(([title, path]) => seen({ title, rule: title, location: { path, line: 1 } })),
    );
  });
  const titles = async (filter: FindingFilter, strategy: 'lookup' | 'scan'): Promise<string[]> => {
    const select = async () =>
      engine
        .db()
        .withTenant({ orgId }, async (tx) =>
          filterFindings(ownFindings(tx).select('findings.title'), orgId, await prepareFilter(tx, orgId, filter), strategy).execute(),
        );
    return (await select()).map(({ title }) => title).sort();
  };
  const inSrc = ['absolute', 'auth', 'file', 'root', 'windows', 'workspace'];

  it.each<[string, string[]]>([
    ['src', inSrc],
    ['/src', inSrc],
    ['./SRC/', inSrc],
    ['C:\\src', inSrc],
    ['/github/workspace/src', inSrc],
    ['src/auth', ['auth']],
    ['src/a.ts', ['root']],
    ['a.ts', []],
    ['auth', []],
    ['auth/login.ts', []],
    ['api/src', []],
    ['frontend', ['nested']],
    ['services/api', ['deep']],
    ['lib/app.jar', ['archive']],
    ['src_', ['literal']],
    ['src_/100%', ['literal']],
    ['%', []],
    ['/', []],
    ['.', []],
  ])('%s matches from the root: %j', async (path, found) => {
    expect(await titles({ path }, 'lookup')).toEqual(found);
    expect(await titles({ path }, 'scan')).toEqual(found);
    const others = Object.keys(paths).filter((title) => !found.includes(title));
    expect(await titles({ not_path: [path] }, 'lookup')).toEqual(others.sort());
  });
});
