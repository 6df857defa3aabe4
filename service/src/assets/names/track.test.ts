import type { AssetType } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Track, trackOf, type VersionFacts } from './track.ts';

const nothing: VersionFacts = { type: 'repository', tag: null, digest: null, commit: null, ref: null };
const policy = { track_names: ['payments', 'customer/*', 'q*-*-z'] };
const decide = (facts: Partial<VersionFacts>): Track => {
  const track = trackOf({ ...nothing, ...facts }, policy);
  if ('error' in track) throw new Error(track.error);
  return track;
};
const image = (tag: string | null, more: Partial<VersionFacts> = {}) => decide({ type: 'container_image', tag, ...more });
const branch = (ref: string, more: Partial<VersionFacts> = {}) => decide({ ref, ...more });
const stated = (track: string, more: Partial<VersionFacts> = {}) => decide({ stated: { track }, ...more });

it.each([
  ['1.4.2', {}, 'shop/replicaset/web/app'],
  ['1a2b3c4', {}, 'shop/replicaset/web/app'],
  ['1.4.2', { stated: { track: 'Prod-EU' } }, 'prod-eu/shop/replicaset/web/app'],
] as const)('an image %s that a workload of a cluster runs is on the track of the workload', (tag, more, track) => {
  expect(image(tag, { workload: 'shop/ReplicaSet/web/app', ...more })).toEqual({ ...named(track), version: tag });
});

const main = (track: string) => ({ track, kind: 'default', mainLike: true, counts: true, canClose: true });
const named = (track: string) => ({ track, kind: 'named', mainLike: false, counts: true, canClose: true });
const release = (track: string) => ({ track, kind: 'release', mainLike: false, counts: true, canClose: true });
const pullRequest = (track: string) => ({ track, kind: 'pull_request', counts: false, canClose: false });
const development = (track: string) => ({ track, kind: 'development', counts: false, canClose: false, note: expect.stringContaining(`"${track}"`) });
const build = (version: string) => ({ track: '', kind: 'build', counts: true, canClose: false, version, note: expect.stringContaining('scan_scope.track') });

it.each<AssetType>(['host', 'web_application', 'repository', 'cloud_resource', 'other'])('a %s of which nothing is known is on the default track', (type) => {
  expect(decide({ type })).toEqual({ track: '', kind: 'default', mainLike: false, counts: true, canClose: true, version: null });
});

it.each([
  ['latest', named('latest')],
  ['prod', named('prod')],
  ['Prod-EU', named('prod-eu')],
  ['main', main('main')],
  ['1.4.2', { ...release('1.x'), ownTrack: '1.4.x', version: '1.4.2' }],
  ['v2.0.1', { ...release('2.x'), ownTrack: '2.0.x', version: 'v2.0.1' }],
  ['1.19-alpine', release('1.x-alpine')],
  ['release-1.4', release('release-1.4')],
  ['stable', release('stable')],
  ['1a2b3c4', build('1a2b3c4')],
  ['20261115', build('20261115')],
  ['1234', build('1234')],
  ['1.4.2-rc.1', build('1.4.2-rc.1')],
  ['main-1a2b3c4', { ...main('main'), version: 'main-1a2b3c4' }],
  ['develop-77', { ...named('develop'), version: 'develop-77' }],
  ['pr-17', pullRequest('pr-17')],
  ['feature-login', development('feature-login')],
  ['payments', named('payments')],
  ['blue', named('blue')],
])('an image with the tag %s', (tag, wanted) => {
  expect(image(tag)).toMatchObject(wanted);
});

it.each([
  ['main', main('main')],
  ['refs/heads/master', main('master')],
  ['origin/main', main('main')],
  ['refs/remotes/origin/main', main('main')],
  ['develop', named('develop')],
  ['refs/heads/release/1.4', release('release/1.4')],
  ['1.4', release('1.4')],
  ['refs/heads/1.4.x', release('1.4.x')],
  ['refs/tags/v1.4.2', { ...release('1.x'), version: 'v1.4.2' }],
  ['refs/tags/2026-11-15', build('2026-11-15')],
  ['refs/pull/17/merge', pullRequest('pr-17')],
  ['refs/merge-requests/3/head', pullRequest('pr-3')],
  ['MR-3', pullRequest('pr-3')],
  ['feature/login', development('feature/login')],
  ['login-page', development('login-page')],
  ['2026-11-15', development('2026-11-15')],
  ['payments', named('payments')],
  ['Customer/Acme', named('customer/acme')],
  ['customer', development('customer')],
  ['qa-b-z', named('qa-b-z')],
  ['q-z', development('q-z')],
  ['1a2b3c4d', build('1a2b3c4d')],
])('a repository with the ref %s', (ref, wanted) => {
  expect(branch(ref)).toMatchObject(wanted);
});

describe('several facts', () => {
  it('keep the commit as the version of a branch', () => {
    expect(branch('main', { commit: '1a2b3c4' })).toMatchObject({ ...main('main'), version: '1a2b3c4' });
  });
  it('do not close by a commit or digest alone', () => {
    expect(decide({ commit: '1a2b3c4' })).toMatchObject(build('1a2b3c4'));
    expect(image(null, { digest: 'sha256:12' })).toMatchObject(build('sha256:12'));
  });
  it('ignore a detached HEAD', () => {
    expect(branch('HEAD', { commit: '1a2b3c4' })).toMatchObject(build('1a2b3c4'));
  });
  it('let the branch decide if the tag is a single build', () => {
    expect(image('1a2b3c4', { ref: 'main' })).toMatchObject({ ...main('main'), version: '1a2b3c4' });
    expect(image('1a2b3c4', { ref: 'feature/x' })).toMatchObject(development('feature/x'));
  });
  it('let the tag of an image decide otherwise', () => {
    expect(image('prod', { ref: 'main', digest: 'sha256:12' })).toMatchObject({ ...named('prod'), version: 'prod' });
    expect(image('1.4.2', { ref: 'main' })).toMatchObject(release('1.x'));
    expect(image('main-77', { ref: 'feature/x' })).toMatchObject(main('main'));
  });
  it('let the branch of a repository decide', () => {
    expect(branch('main', { version: '1.4.2' })).toMatchObject({ ...main('main'), version: '1.4.2' });
  });
  it('recognize a pull request by any of them', () => {
    expect(image('latest', { ref: 'refs/pull/17/merge' })).toMatchObject(pullRequest('pr-17'));
    expect(image('pr-17', { ref: 'main' })).toMatchObject(pullRequest('pr-17'));
  });
  it('prefer the stated version to the tag', () => {
    expect(image('1.4.2', { stated: { version: '2.0.0' } })).toMatchObject({ ...release('2.x'), version: '2.0.0' });
  });
});

describe('a stated track', () => {
  it.each<[string, Partial<VersionFacts>, object]>([
    ['main', {}, main('main')],
    ['main', { ref: 'master' }, main('main')],
    ['default', { ref: 'develop' }, main('default')],
    ['prod', { ref: 'main' }, named('prod')],
    ['prod', { ref: 'feature/x' }, named('prod')],
    ['pr-17', { ref: 'refs/pull/17/head' }, pullRequest('pr-17')],
    ['pr-17', { ref: 'feature/x' }, pullRequest('pr-17')],
    ['pr-17', { type: 'container_image', tag: 'latest' }, pullRequest('pr-17')],
    ['feature/x', { ref: 'refs/pull/17/merge' }, development('feature/x')],
    ['feature-x', { ref: 'feature/x' }, development('feature-x')],
    ['login-page', {}, development('login-page')],
    ['login-page', { ref: 'refs/heads/login-page' }, development('login-page')],
    ['backend', { ref: 'main' }, named('backend')],
    ['backend', { type: 'container_image' }, named('backend')],
    ['payments', {}, named('payments')],
    ['1.4', {}, release('1.4')],
    ['1.4.x', { type: 'container_image', tag: '1.4.2' }, { ...release('1.4.x'), version: '1.4.2' }],
    [' Prod ', {}, named('prod')],
    ['7', { type: 'container_image' }, release('7')],
    [' ', { ref: 'main' }, main('main')],
  ])('%s with %j', (track, facts, wanted) => {
    expect(stated(track, facts)).toMatchObject(wanted);
  });

  it('has the commit as its version', () => {
    expect(stated('prod', { commit: '1a2b3c4' }).version).toBe('1a2b3c4');
  });

  it.each<[string, Partial<VersionFacts>]>([
    ['pr-17', { ref: 'main' }],
    ['pr-17', { ref: 'refs/heads/develop' }],
    ['pr-17', { ref: 'refs/heads/payments' }],
    ['pr-17', { ref: 'refs/pull/18/merge' }],
    ['pr-17', { type: 'container_image', tag: 'pr-18' }],
    ['main', { ref: 'refs/pull/17/merge' }],
    ['prod', { ref: 'refs/pull/17/merge' }],
    ['main', { type: 'container_image', tag: 'pr-17' }],
    ['main', { ref: 'feature/x' }],
    ['main', { ref: 'release/1.4' }],
    ['release/1.4', { ref: 'release/1.5' }],
    ['develop', { ref: 'feature/x' }],
    ['feature/x', { ref: 'main' }],
    ['feature/x', { ref: 'feature/y' }],
    ['1a2b3c4', {}],
    ['sha256:1234', {}],
    ['HEAD', {}],
  ])('%s contradicts %j', (track, facts) => {
    const result = trackOf({ ...nothing, ...facts, stated: { track } }, policy);
    expect(result).toEqual({ error: expect.stringMatching(/^The track .+\. Send .+\.$/) });
  });
});

it('never throws, and closes nothing where findings do not count', () => {
  const name = fc.oneof(
    fc.constantFrom(null, '', 'main', 'pr-17', '1.4.2', '1a2b3c4', 'feature/x', 'latest', 'HEAD', 'refs/tags/v1', 'blue'),
    fc.string({ unit: 'binary' }),
  );
  const facts = fc.record({
    type: fc.constantFrom<AssetType>('repository', 'container_image', 'host'),
    tag: name,
    digest: name,
    commit: name,
    ref: name,
    stated: fc.record({ track: name.map((one) => one ?? undefined) }),
  });
  fc.assert(
    fc.property(facts, (given) => {
      const result = trackOf(given, policy);
      if ('error' in result) return;
      expect(result.counts || !result.canClose).toBe(true);
      expect(result.track).toBe(result.track.toLowerCase());
    }),
    { numRuns: 1000 },
  );
});
