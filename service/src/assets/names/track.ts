import type { AssetType } from '@rrs/scan-reports';
import { isMajor, type NameKind, readVersionName } from './version-name.ts';

/** What is known about the version of an asset that was scanned. `normalAsset` has all but `stated`. */
export interface VersionFacts {
  type: AssetType;
  /** What the sender of the report says, in `scan_scope`. */
  stated?: { track?: string | undefined; version?: string | undefined };
  tag: string | null;
  digest: string | null;
  commit: string | null;
  ref: string | null;
  version?: string | null;
  /** The workload of a cluster that runs the image, and the container. */
  workload?: string | null;
}

export interface TrackPolicy {
  /** Branches and environments that the organization counts in addition to the well-known ones. `*` stands for any text. */
  track_names: readonly string[];
}

export interface Track {
  /**
   * Name of the track in lower case, empty for the default track. A main-like name stands for the default track as well, and names it.
   */
  track: string;
  kind: 'default' | 'named' | 'release' | 'pull_request' | 'development' | 'build';
  mainLike: boolean;
  /** False for what is not released: its findings are kept apart from the others. */
  counts: boolean;
  /** Whether a complete scan can close findings on the track. */
  canClose: boolean;
  /** The build: release, tag, commit or digest. */
  version: string | null;
  /**
   * Only for releases: the track to use instead if a higher version of `track` was scanned more than a day before this one (`compareVersions`). An
   * older line that is still scanned is then still maintained. Only the caller knows the earlier scans.
   */
  ownTrack?: string;
  /** For the notes of the import. */
  note?: string;
}

/**
 * Decides on which track a scan was made. What the sender states comes first. Otherwise a pull request is recognized by any name; the tag of an image
 * counts more than the branch it was built from, and the branch of a repository more than its version. What a container of a workload runs is a track of its
 * own, because others can run other builds. A name that stands for a single build opens findings on the default track and closes none. In doubt, a name is a track of its own, because nothing is closed across tracks.
 */
export function trackOf(facts: VersionFacts, policy: TrackPolicy): Track | { error: string } {
  const stated = clean(facts.stated?.track);
  const ref = readRef(facts.ref);
  const name = clean(facts.stated?.version) ?? clean(facts.tag) ?? clean(facts.version) ?? (ref?.form === 'tag' ? ref.name : null);
  const version = name ?? clean(facts.commit) ?? clean(facts.digest);
  const branch = ref?.form === 'branch' ? read(ref.name, policy) : null;
  const build = name === null ? null : read(name, policy);

  const workload = clean(facts.workload);
  if (workload !== null) return named([...(stated === null ? [] : [stated]), workload].join('/').toLowerCase(), 'named', version);
  if (stated !== null) return fromStatement({ facts, stated: read(stated, policy), branch, build, version });
  const request = [branch, build].find((one) => one?.kind === 'pull_request');
  if (request) return pullRequest(request, version);
  const saysNothing = build === null || (build.kind === 'build' && build.of === undefined) || isMajor(build.name);
  if (branch && (saysNothing || facts.type === 'repository')) return fromBranch(branch, version);
  if (build) return fromVersion(build, version);
  if (version === null) return named('', 'default', version);
  return closesNothing(version, clean(facts.commit) === version ? 'a commit' : 'a digest');
}

/** A name and what it says. */
type Read = (Exclude<NameKind, { kind: 'build' }> | { kind: 'build'; is: string; of?: string } | { kind: 'listed' }) & { name: string };

function read(given: string, policy: TrackPolicy): Read {
  const name = given.toLowerCase();
  const found = readVersionName(name);
  if (found.kind !== 'main' && found.kind !== 'pull_request' && isListed(name, policy)) return { kind: 'listed', name };
  if (found.kind !== 'build') return { ...found, name };
  return { kind: 'build', is: found.is, name, ...(found.of === null ? {} : { of: found.of }) };
}

/** Whether the organization counts the branch or environment. */
export function isListed(name: string, { track_names }: TrackPolicy): boolean {
  return track_names.some((pattern) => matches(pattern, name));
}

/** Compares with a pattern in linear time. A regular expression of several `.*` would not. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.trim().toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

interface Ref {
  name: string;
  form: 'branch' | 'tag';
}

/** `refs/heads/main`, `refs/remotes/origin/main`, `origin/main`, `refs/tags/v1`, `refs/pull/17/merge`. A detached `HEAD` names nothing. */
function readRef(ref: string | null): Ref | null {
  const text = clean(ref);
  if (text === null || /^(?:refs\/heads\/)?HEAD$/.test(text)) return null;
  const [, tag] = /^(?:refs\/)?tags\/(.+)$/.exec(text) ?? [];
  if (tag !== undefined) return { name: tag, form: 'tag' };
  return { name: text.replace(/^(?:refs\/)?(?:heads\/|remotes\/[^/]+\/)|^origin\//, ''), form: 'branch' };
}

interface Statement {
  facts: VersionFacts;
  stated: Read;
  branch: Read | null;
  build: Read | null;
  version: string | null;
}

function fromStatement({ facts, stated, branch, build, version }: Statement): Track | { error: string } {
  if (clean(facts.stated?.track) === 'HEAD') return { error: 'The track "HEAD" does not name a branch. Send the name of the branch or of the environment.' };
  const error = contradiction(stated, branch, build);
  if (error !== null) return { error };
  const { name } = stated;
  switch (stated.kind) {
    case 'main':
      return { ...named(name, 'default', version), mainLike: true };
    case 'pull_request':
      return pullRequest(stated, version);
    case 'working_branch':
      return development(name, version);
    case 'line':
    case 'version':
      return named(name, 'release', version);
    case 'build':
      if (stated.is === 'a commit' || stated.is === 'a digest') {
        return { error: `The track "${name}" is ${stated.is}. Send it as the version, and the branch or environment as the track.` };
      }
      return named(name, 'named', version);
    case 'unknown':
      // Pipelines state their branch. If the branch is known to be another one, the name is something else.
      return facts.type === 'repository' && (branch === null || sameBranch(stated, branch)) ? development(name, version) : named(name, 'named', version);
    default:
      return named(name, 'named', version);
  }
}

/** A message if the report was made for something else than what its sender says. Otherwise it would close findings of a branch that was not scanned. */
function contradiction(stated: Read, branch: Read | null, build: Read | null): string | null {
  const request = [branch, build].find((one) => one?.kind === 'pull_request');
  if (request) {
    const isSame = stated.kind === 'working_branch' || (stated.kind === 'pull_request' && request.kind === 'pull_request' && stated.number === request.number);
    return isSame ? null : `The track is "${stated.name}", but the report was made for the pull request "${request.name}". Send the track that was scanned.`;
  }
  if (branch === null || sameBranch(stated, branch)) return null;
  const isOther =
    stated.kind === 'pull_request' ? isCountedBranch(branch) : isBranch(stated) && isBranch(branch) && !(stated.kind === 'main' && branch.kind === 'main');
  return isOther ? `The track is "${stated.name}", but the report was made for the branch "${branch.name}". Send the track that was scanned.` : null;
}

/** Names of branches only. An environment can run the build of any branch, and `default` says nothing about the branch. */
function isBranch({ kind, name }: Read): boolean {
  return (kind === 'main' && name !== 'default' && name !== 'head') || kind === 'line' || kind === 'working_branch' || name === 'develop';
}

function isCountedBranch({ kind }: Read): boolean {
  return kind === 'main' || kind === 'line' || kind === 'environment' || kind === 'listed';
}

/** Build services replace characters of a branch's name, and GitLab cuts it after 63. */
function sameBranch(a: Read, b: Read): boolean {
  const slug = (text: string) => text.replace(/[^a-z0-9]+/g, '-').slice(0, 63);
  return slug(a.name) === slug(b.name);
}

/** A branch is a track under its own name, but only well-known and listed ones count. */
function fromBranch(branch: Read, version: string | null): Track {
  const { kind, name } = branch;
  if (kind === 'main') return { ...named(name, 'default', version), mainLike: true };
  if (kind === 'environment' || kind === 'listed') return named(name, 'named', version);
  if (kind === 'line' || kind === 'version') return named(name, 'release', version);
  return kind === 'build' && branch.is === 'a commit' ? closesNothing(version ?? name, 'a commit') : development(name, version);
}

function fromVersion(build: Read, version: string | null): Track {
  const { name } = build;
  switch (build.kind) {
    case 'main':
      return { ...named(name, 'default', version), mainLike: true };
    case 'version':
      return { ...named(build.line, 'release', version), ownTrack: build.ownLine, ...(isMajor(name) ? { note: majorNote(name, build.line) } : {}) };
    case 'line':
      return named(name, 'release', version);
    case 'working_branch':
      return development(name, version);
    case 'build':
      if (build.of === undefined) return closesNothing(version ?? name, build.is);
      return fromVersion(read(build.of, { track_names: [] }), version);
    default:
      return named(name, 'named', version);
  }
}

function majorNote(name: string, line: string): string {
  return `"${name}" was taken for the release line ${line}. If it is a build number, state the branch or environment in scan_scope.track.`;
}

function named(track: string, kind: Track['kind'], version: string | null): Track {
  return { track, kind, mainLike: false, counts: true, canClose: true, version };
}

function pullRequest(request: Read, version: string | null): Track {
  const track = request.kind === 'pull_request' ? `pr-${request.number}` : request.name;
  return { track, kind: 'pull_request', mainLike: false, counts: false, canClose: false, version };
}

function development(branch: string, version: string | null): Track {
  const note = `The branch "${branch}" is not in the organization's list of tracks, so its findings are kept apart like those of a pull request.`;
  return { track: branch, kind: 'development', mainLike: false, counts: false, canClose: false, version, note };
}

function closesNothing(version: string, is: string): Track {
  const note = `Nothing was closed: "${version}" is ${is} and does not say which branch or environment was scanned. State it in scan_scope.track.`;
  return { track: '', kind: 'build', mainLike: false, counts: true, canClose: false, version, note };
}

function clean(text: string | null | undefined): string | null {
  const trimmed = text?.trim();
  return trimmed ? trimmed : null;
}
