import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalRepository } from './repository.ts';

describe('all addresses of a repository lead to one name', () => {
  const spellings: Record<string, string[]> = {
    'github.com/acme/shop': [
      'https://github.com/acme/shop',
      'https://github.com/acme/shop.git',
      'https://github.com/Acme/Shop/',
      'HTTPS://GitHub.com:443/acme/shop',
      'http://github.com/acme/shop',
      'https://user:token@github.com/acme/shop.git',
      'git@github.com:acme/shop.git',
      'github.com:acme/shop',
      'ssh://git@github.com/acme/shop.git',
      'ssh://git@github.com:22/acme/shop',
      'ssh://git@ssh.github.com:443/acme/shop.git',
      'git://github.com/acme/shop.git',
      'git+https://github.com/acme/shop.git',
      'git+https://github.com/acme/shop.git@v1.0#egg=shop',
      'git+ssh://git@github.com/acme/shop.git',
      'scm:git:https://github.com/acme/shop.git',
      'scm:git:git@github.com:acme/shop.git',
      'github.com/acme/shop',
      'www.github.com/acme/shop',
      'https://github.com/acme/shop/tree/main/src',
      'https://github.com/acme/shop/blob/main/a.ts?plain=1#L3',
      'https://api.github.com/repos/acme/shop',
    ],
    'gitlab.com/acme/team/shop': [
      'https://gitlab.com/acme/team/shop',
      'https://gitlab.com/acme/team/shop/-/tree/main',
      'https://gitlab-ci-token:x@gitlab.com/acme/team/shop.git',
      'git@gitlab.com:acme/team/shop.git',
      'ssh://git@altssh.gitlab.com:443/acme/team/shop.git',
    ],
    'dev.azure.com/acme/web/shop': [
      'https://dev.azure.com/acme/web/_git/shop',
      'https://acme@dev.azure.com/acme/web/_git/shop',
      'git@ssh.dev.azure.com:v3/acme/web/shop',
      'https://acme.visualstudio.com/web/_git/shop',
      'https://acme.visualstudio.com/DefaultCollection/web/_git/shop',
    ],
    'git.example.com/web/shop': [
      'https://git.example.com/scm/web/shop.git',
      'ssh://git@git.example.com:7999/web/shop.git',
      'git@git.example.com:web/shop.git',
      'ssh://git.example.com:2222/web/shop',
    ],
    'git.example.com:8443/web/shop': ['https://git.example.com:8443/web/shop'],
    'gitserver/web/shop': ['git@gitserver:web/shop.git', 'ssh://gitserver/web/shop'],
    'acme/shop': ['acme/shop', 'Acme/Shop', 'acme/shop.git', 'acme/shop/', ' acme/shop '],
    'constructor/web/shop': ['ssh://constructor/web/shop'],
    'com.acme:shop': ['com.acme:shop'],
    shop: ['shop', 'Shop', 'shop.git'],
  };
  it.each(Object.entries(spellings).flatMap(([name, all]) => all.map((text) => [text, name])))('%s is %s', (text, name) => {
    expect(normalRepository(text).name).toBe(name);
  });
});

it.each([
  ['https://github.com/acme/shop', ['repo-path:acme/shop', 'repo-name:shop']],
  ['git@gitlab.com:acme/team/shop.git', ['repo-path:acme/team/shop', 'repo-name:shop']],
  ['acme/shop', ['repo-path:acme/shop', 'repo-name:shop']],
  ['shop', []],
  ['/builds/acme/shop', ['repo-path:acme/shop', 'repo-name:shop']],
  ['/builds/acme/team/shop/', ['repo-path:acme/team/shop', 'repo-name:shop']],
  ['/builds/3kd9sk2A/0/acme/shop', ['repo-path:acme/shop', 'repo-name:shop']],
  ['/home/runner/work/shop/shop', ['repo-name:shop']],
  ['D:\\a\\shop\\shop', ['repo-name:shop']],
  ['/home/me/projects/Shop', ['repo-name:shop']],
  ['../shop', ['repo-name:shop']],
  ['com.acme:Shop', []],
  ['/github/workspace', []],
  ['/src', []],
  ['.', []],
  ['..', []],
  ['./', []],
  ['C:\\', []],
  ['/', []],
  ['Web shop (legacy)', []],
  ['', []],
])('%s has the weak keys %j', (text, keys) => {
  expect(normalRepository(text).weakKeys).toEqual(keys);
});

it.each([
  ['https://github.com/acme/shop', 'https://gitlab.com/acme/shop'],
  ['https://github.com/acme/shop', 'https://github.com/acme/shop-api'],
  ['https://github.com/acme/shop', 'https://github.com/other/shop'],
  ['https://git.example.com/web/shop', 'https://git.example.com:8443/web/shop'],
  ['acme/shop', 'https://github.com/acme/shop'],
])('%s and %s are different names', (one, other) => {
  expect(normalRepository(one).name).not.toBe(normalRepository(other).name);
});

it('does not change a normal name, whatever the text', () => {
  const part = fc.constantFrom(
    'https://',
    'git@',
    'ssh://',
    'github.com',
    '.git',
    '/',
    ':',
    'acme',
    'Shop',
    '-',
    '@',
    '22',
    '..',
    '.',
    'scm',
    '_git',
    ' ',
    '\\',
    'v3',
    '#',
    'acme.visualstudio.com',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(part, { maxLength: 9 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      const normal = normalRepository(given);
      expect(normalRepository(normal.name).name).toBe(normal.name);
    }),
    { numRuns: 1000 },
  );
});
