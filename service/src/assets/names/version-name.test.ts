import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, type NameKind, readVersionName } from './version-name.ts';

const version = (line: string, ownLine: string): NameKind => ({ kind: 'version', line, ownLine });
const build = (is: string, of: string | null = null): NameKind => ({ kind: 'build', is, of });
const pr = (number: string): NameKind => ({ kind: 'pull_request', number });

it.each<[string, NameKind]>([
  ...['main', 'Master', 'trunk', 'default', 'head'].map((name): [string, NameKind] => [name, { kind: 'main' }]),
  ['pr-17', pr('17')],
  ['PR-17', pr('17')],
  ['pr17', pr('17')],
  ['pr-17-1a2b3c4', pr('17')],
  ['MR-3', pr('3')],
  ['MR-3-head', pr('3')],
  ['pull/17', pr('17')],
  ['refs/pull/17/merge', pr('17')],
  ['refs/pull/17/head', pr('17')],
  ['refs/merge-requests/3/head', pr('3')],
  ['merge-requests/3/merge', pr('3')],
  ['refs/pull-requests/8/from', pr('8')],
  ['refs/changes/34/1234/5', pr('1234')],
  ['gh-readonly-queue/main/pr-17-1a2b3c4d5e6f', pr('17')],
  ['!3', pr('3')],
  ['#17', pr('17')],
  ['1.2.3-pr.17', pr('17')],
  ['0.0.0-pr17.1a2b3c4', pr('17')],
  ...['latest', 'prod', 'Production', 'staging', 'dev', 'develop', 'uat', 'prod-eu', 'staging2', 'qa-eu-1', 'edge', 'nightly', 'canary', 'release'].map(
    (name): [string, NameKind] => [name, { kind: 'environment' }],
  ),
  ...['release-1.4', 'release/1.4', 'releases/1.4.x', '1.4.x', 'v2.x', '1.x', 'support/1.x', 'stable', 'stable-2', 'lts', 'release/summer'].map(
    (name): [string, NameKind] => [name, { kind: 'line' }],
  ),
  ...['feature/login', 'feat/x', 'bugfix/1', 'hotfix/1.4.1', 'dependabot/npm_and_yarn/a-1.2.3', 'renovate/a', 'feature-login', 'snyk-fix-1a2b'].map(
    (name): [string, NameKind] => [name, { kind: 'working_branch' }],
  ),
  ['1.4.2', version('1.x', '1.4.x')],
  ['v1.4.2', version('1.x', '1.4.x')],
  ['1.19', version('1.x', '1.19.x')],
  ['24.04', version('24.x', '24.04.x')],
  ['v3', version('3.x', '3.x')],
  ['0.9.1', version('0.x', '0.9.x')],
  ['1.2.3.4', version('1.x', '1.2.x')],
  ['1.2.3+build.5', version('1.x', '1.2.x')],
  ['5.3.1.RELEASE', version('5.x', '5.3.x')],
  ['4.1.0.Final', version('4.x', '4.1.x')],
  ['release-1.4.2', version('1.x', '1.4.x')],
  ['release/v1.4.2', version('1.x', '1.4.x')],
  ['shop-1.4.2', version('shop-1.x', 'shop-1.4.x')],
  ['shop@1.4.2', version('shop-1.x', 'shop-1.4.x')],
  ['shop/v1.4.2', version('shop-1.x', 'shop-1.4.x')],
  ['1.19-alpine', version('1.x-alpine', '1.19.x-alpine')],
  ['3.12.1-slim-bookworm', version('3.x-slim-bookworm', '3.12.x-slim-bookworm')],
  ['3.12.1-alpine3.19', version('3.x-alpine', '3.12.x-alpine')],
  ['20-alpine', version('20.x-alpine', '20.x-alpine')],
  ['2.10.1-debian-12-r5', version('2.x-debian', '2.10.x-debian')],
  ['1.4.2-rc.1', build('a pre-release')],
  ['1.4.2-SNAPSHOT', build('a pre-release')],
  ['2.0.0-beta1', build('a pre-release')],
  ['2.0.0rc1', build('a pre-release')],
  ['2.0.0.dev1', build('a pre-release')],
  ['1.4.2-5-g1a2b3c4', build('a pre-release')],
  ['1.4.2-1', build('a pre-release')],
  ['1.4.2-rc1-alpine', build('a pre-release')],
  ['1a2b3c4', build('a commit')],
  ['0123456789abcdef0123456789abcdef01234567', build('a commit')],
  ['sha-1a2b3c4', build('a commit')],
  ['sha256:0123', build('a digest')],
  ['20261115', build('a date')],
  ['2026-11-15', build('a date')],
  ['2026.11.15', build('a date')],
  ['2026.11.1', build('a date')],
  ['20261115-1a2b3c4', build('a date')],
  ['2026-11-15T10-00', build('a date')],
  ['1', version('1.x', '1.x')],
  ['15', version('15.x', '15.x')],
  ['0', build('a build number')],
  ['07', build('a build number')],
  ['100', build('a build number')],
  ['main-15', build('a build number', 'main')],
  ['1234', build('a build number')],
  ['build-77', build('a build number')],
  ['b77', build('a build number')],
  ['run-5', build('a build number')],
  ['4f9a6c1e-0b7d-4f0e-9d2a-1c2b3a4d5e6f', build('a build id')],
  ['main-1a2b3c4', build('a commit', 'main')],
  ['main-123', build('a build number', 'main')],
  ['develop-20261115-1a2b3c4', build('a date', 'develop')],
  ['nightly-20261115', build('a date', 'nightly')],
  ['shop-1a2b3c4', build('a commit')],
  ['shop-20261115', build('a date')],
  ...['blue', 'worker-2', 'payments', 'deadbeef', 'acme/x', '', 'v', 'x.y'].map((name): [string, NameKind] => [name, { kind: 'unknown' }]),
])('%s', (name, kind) => {
  expect(readVersionName(name)).toEqual(kind);
});

it('reads any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(readVersionName(name)).toHaveProperty('kind');
    }),
  );
});

describe('comparing versions', () => {
  it.each([
    ['1.4.2', '1.4.3'],
    ['1.9.0', '1.10.0'],
    ['1.4', '1.4.1'],
    ['v1.4.2', '2.0.0'],
    ['1.0.0-alpha', '1.0.0-alpha.1'],
    ['1.0.0-alpha.1', '1.0.0-alpha.beta'],
    ['1.0.0-alpha.beta', '1.0.0-beta'],
    ['1.0.0-beta.2', '1.0.0-beta.11'],
    ['1.0.0-beta2', '1.0.0-beta11'],
    ['1.0.0-rc.1', '1.0.0'],
    ['2.0.0rc1', '2.0.0'],
  ])('%s is lower than %s', (low, high) => {
    expect(compareVersions(low, high)).toBeLessThan(0);
    expect(compareVersions(high, low)).toBeGreaterThan(0);
  });

  it.each([
    ['1.4', '1.4.0'],
    ['v1.4.2', '1.4.2'],
    ['1.4.2+a', '1.4.2+b'],
    ['1.4.2.Final', '1.4.2'],
    ['1.4.2-alpine3.19', '1.4.2-alpine'],
  ])('%s equals %s', (one, other) => {
    expect(compareVersions(one, other)).toBe(0);
  });

  it.each(['', 'main', '1a2b3c4', 'latest', 'x1.2'])('%j has no order', (name) => {
    expect(compareVersions(name, '1.0.0')).toBeNull();
    expect(compareVersions('1.0.0', name)).toBeNull();
  });

  it('is an order', () => {
    const part = fc.constantFrom('1', '2', '10', 'a', 'rc', 'alpine');
    const text = fc
      .tuple(fc.array(fc.nat(3), { minLength: 2, maxLength: 3 }), fc.array(part, { maxLength: 2 }))
      .map(([n, p]) => n.join('.') + (p.length > 0 ? `-${p.join('.')}` : ''));
    const sign = (a: string, b: string) => Math.sign(compareVersions(a, b) ?? Number.NaN);
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(sign(a, a)).toBe(0);
        expect(sign(a, b) + sign(b, a)).toBe(0);
        if (sign(a, b) <= 0 && sign(b, c) <= 0) expect(sign(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
