import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalPurl, isPurl, packageName, parsePurl, purlText } from './purl.ts';

/**
 * The cases of https://github.com/package-url/purl-spec (tests/, commit 16f3d0e, MIT license), one per line: a package URL, and after an arrow its
 * canonical form or `invalid`. A line without an arrow is canonical. Two inputs that the specification both normalizes and rejects, because a
 * qualifier has capital letters, are normalized here. The only case left out lowers the case of a `git` package, whose type is case-sensitive.
 */
const cases = readFileSync(new URL('./purl-spec-cases.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split(' → '))
  .map(([input = '', result = input]) => ({ input, result: result === 'invalid' ? null : result }));

describe('the cases of the specification', () => {
  it.each(cases)('$input', ({ input, result }) => {
    expect(canonicalPurl(input)).toBe(result);
    if (result !== null) expect(canonicalPurl(result)).toBe(result);
  });

  it('are read completely', () => {
    expect(cases.length).toBeGreaterThan(230);
    expect(cases.filter(({ result }) => result === null).length).toBeGreaterThan(20);
  });
});

describe('parts of a package URL', () => {
  const none = { namespace: undefined, version: undefined, qualifiers: {}, subpath: undefined };

  it.each([
    ['pkg:npm/%40babel/core@7.1.0?arch=x#lib', { type: 'npm', namespace: '@babel', name: 'core', version: '7.1.0', qualifiers: { arch: 'x' }, subpath: 'lib' }],
    ['pkg:npm/@babel/core', { ...none, type: 'npm', namespace: '@babel', name: 'core' }],
    ['pkg:npm/@babel/core@7.1.0', { ...none, type: 'npm', namespace: '@babel', name: 'core', version: '7.1.0' }],
    ['pkg:golang/github.com/example/tool@v1.2.3', { ...none, type: 'golang', namespace: 'github.com/example', name: 'tool', version: 'v1.2.3' }],
    ['pkg:git/codeberg.org/forgejo/forgejo@1', { ...none, type: 'git', namespace: 'codeberg.org', name: 'forgejo/forgejo', version: '1' }],
    ['pkg:docker/shop@feature/a', { ...none, type: 'docker', name: 'shop', version: 'feature/a' }],
    ['pkg:npm/a@1?b=&c=x%26y', { ...none, type: 'npm', name: 'a', version: '1', qualifiers: { c: 'x&y' } }],
    ['pkg:npm/a/#./b/../c/', { ...none, type: 'npm', name: 'a', subpath: 'b/c' }],
  ])('%s', (text, parts) => {
    expect(parsePurl(text)).toEqual(parts);
  });

  it.each([
    ['a missing namespace', 'pkg:golang/stdlib@1.22.0', { type: 'golang', name: 'stdlib', version: '1.22.0' }],
    ['a namespace too many', 'pkg:pypi/acme/Shop_Tools', { type: 'pypi', namespace: 'acme', name: 'shop-tools' }],
    ['broken percent-encoding', 'pkg:npm/a%ZZ@1', { name: 'a%ZZ', version: '1' }],
    ['a qualifier without a value', 'pkg:npm/a@1?broken&arch=x', { name: 'a', qualifiers: { arch: 'x' } }],
    ['the same qualifier twice', 'pkg:npm/a@1?arch=x&arch=y', { name: 'a', qualifiers: { arch: 'x' } }],
  ])('are read despite %s, which is not canonical', (_, text, parts) => {
    expect(parsePurl(text)).toMatchObject(parts);
    expect(canonicalPurl(text)).toBeNull();
  });

  it.each([undefined, '', 'lodash@1', 'pkg:npm', 'pkg:npm/', 'pkg:npm//', 'pkg:npm/?x', 'pkg:npm/@1', 'pkg:git/host', 'pkg:/npm'])(
    'are absent in %j',
    (text) => {
      expect(parsePurl(text)).toBeNull();
    },
  );

  it.each(['pkg:npm/lodash', 'pkg://npm/%40angular/core@17.0.0', 'pkg:npm/@angular/core@17.0.0', 'pkg:golang/stdlib@1.22.0', 'pkg:generic/a@1?b=&c=d#e'])(
    'are complete in %s',
    (text) => {
      expect(isPurl(text)).toBe(true);
    },
  );

  it.each(['lodash', 'pkg:npm', 'pkg:npm/%2', 'pkg:npm/a%ZZb@1', 'pkg:npm/a@%FF', 'pkg:maven/@1.3.4', 'pkg:npm/a@1?broken', 'pkg:npm/a@1?b=%2'])(
    'are malformed in %s',
    (text) => {
      expect(isPurl(text)).toBe(false);
    },
  );

  it('may have a type that is a word of the language', () => {
    for (const text of ['pkg:constructor/a@1', 'pkg:npm/constructor@1?constructor=x']) expect(canonicalPurl(text)).toBe(text);
  });

  it('survive being written and read again', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !one.includes('/') && one !== '.' && one !== '..');
    const purl = fc.record({
      type: fc.constantFrom('npm', 'maven', 'generic', 'x-unknown'),
      namespace: fc.option(
        fc.array(text, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
        { nil: undefined },
      ),
      name: text,
      version: fc.option(text, { nil: undefined }),
      qualifiers: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9._-]{0,8}$/), text, { noNullPrototype: true }),
      subpath: fc.option(text, { nil: undefined }),
    });
    fc.assert(
      fc.property(purl, (parts) => {
        expect(parsePurl(purlText(parts))).toEqual(parts);
      }),
    );
  });

  it('never throw, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((rest) => `pkg:npm/${rest}`),
        ),
        (text) => {
          const canonical = canonicalPurl(text);
          if (canonical !== null) expect(canonicalPurl(canonical)).toBe(canonical);
        },
      ),
    );
  });
});

it('names a package as its package manager does', () => {
  expect(packageName('com.example', 'shop', undefined)).toBe('com.example:shop');
  expect(packageName('com.example', 'shop', 'maven')).toBe('com.example:shop');
  expect(packageName('@scope', 'shop', undefined)).toBe('@scope/shop');
  expect(packageName('github.com/example', 'tool', 'golang')).toBe('github.com/example/tool');
  expect(packageName('debian', 'bash', 'deb')).toBe('bash');
  expect(packageName(undefined, 'bash', undefined)).toBe('bash');
});
