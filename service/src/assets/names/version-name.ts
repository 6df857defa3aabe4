/** What the name of a tag, branch or version says about what was scanned. */
export type NameKind =
  /** The main line of development, whatever it is called. */
  | { kind: 'main' }
  | { kind: 'pull_request'; number: string }
  /** An environment, or a name that moves from build to build, such as `latest`. */
  | { kind: 'environment' }
  /** A maintained line: `release-1.4`, `1.4.x`, `stable`. */
  | { kind: 'line' }
  /** A release of the line `line`. `ownLine` is the narrower line that it is on. */
  | { kind: 'version'; line: string; ownLine: string }
  /** One build among many. `of` is the branch or environment in front of it, as in `main-1a2b3c4`. */
  | { kind: 'build'; is: string; of: string | null }
  /** A branch on which somebody works. */
  | { kind: 'working_branch' }
  | { kind: 'unknown' };

const MAIN = /^(?:main|master|trunk|default|head|mainline)$/;
const PULL_REQUEST = [
  /^(?:refs\/)?(?:pull|pull-requests|merge-requests|merge_requests)\/(\d+)(?:\/[a-z]+)?$/,
  /^refs\/changes\/\d+\/(\d+)(?:\/\d+)?$/,
  /^(?:pr|mr|pull|pull-?request|merge-?request)[-_/#]?(\d+)(?:[-_.].*)?$/,
  /^gh-readonly-queue\/.+\/pr-(\d+)-[0-9a-f]+$/,
  /^[!#](\d+)$/,
  /^v?\d+(?:\.\d+)*-(?:pr|mr)[-.]?(\d+)(?:[-.+].*)?$/,
];
const ENVIRONMENTS =
  'prod production live staging stage preprod pre-prod preproduction pre-production uat qa test testing int integration dev develop development demo sandbox acceptance acc perf training dr';
const MOVING = 'latest edge nightly canary next current rolling snapshot alpha beta rc preview release';
const NAMED = new Set(`${ENVIRONMENTS} ${MOVING}`.split(' '));
/** `prod-eu`, `staging2` */
const NUMBERED_ENVIRONMENT = /^(?:prod|production|live|staging|stage|preprod|uat|qa)(?:\d+|[-_.][a-z]+(?:[-_.]?\d+)?)$/;
const LINE = /^(?:(?:release|releases|rel|support|maint|maintenance|stable|lts)[-_/.].+|stable|lts|oldstable)$/;
/** `1.x`, `1.4.x` */
const NUMBERED_LINE = /^v?\d+(?:\.\d+)*\.[x*]$/;
const WORKING =
  /^(?:(?:feature|features|feat|fix|fixes|bug|bugfix|hotfix|chore|docs|refactor|ci|task|issue|story|spike|experiment|topic|users?|wip|revert|dependabot|renovate)\/.|(?:feature|feat|bugfix|hotfix|dependabot|renovate|snyk-fix|wip|revert)-.)/;

/** Variants of one release that are published side by side. */
const VARIANT =
  /^(?:alpine|slim|bookworm|bullseye|buster|trixie|jammy|focal|noble|debian|ubuntu|ubi|ol|centos|distroless|scratch|fpm|apache|jdk|jre|windowsservercore|nanoserver|management|minimal|full|rootless|nonroot)[\d.]*$/;

/** Decides by the name alone. Case is ignored. */
export function readVersionName(given: string): NameKind {
  const name = given.trim().toLowerCase();
  // Neither Git nor registries allow longer names, and the patterns below are slow for very long ones.
  if (name.length > 255) return { kind: 'unknown' };
  if (MAIN.test(name)) return { kind: 'main' };
  for (const pattern of PULL_REQUEST) {
    const [, number] = pattern.exec(name) ?? [];
    if (number !== undefined) return { kind: 'pull_request', number };
  }
  if (NAMED.has(name) || NUMBERED_ENVIRONMENT.test(name)) return { kind: 'environment' };
  if (NUMBERED_LINE.test(name)) return { kind: 'line' };
  if (WORKING.test(name)) return { kind: 'working_branch' };
  // Registries have `postgres:15` and `node:20`, which move from release to release. Pipelines soon count higher.
  if (isMajor(name)) return { kind: 'version', line: `${name}.x`, ownLine: `${name}.x` };
  const is = buildName(name);
  if (is !== null) return { kind: 'build', is, of: null };
  return readRelease(name) ?? (LINE.test(name) ? { kind: 'line' } : (readPrefixed(name) ?? { kind: 'unknown' }));
}

/** A number of one or two digits. It may be a major version or a build number. */
export function isMajor(name: string): boolean {
  return /^[1-9]\d?$/.test(name);
}

/** What kind of build a name stands for. Null if it is not the name of a single build. */
function buildName(name: string): string | null {
  if (/^sha\d+:[0-9a-f]+$/.test(name)) return 'a digest';
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)) return 'a build id';
  if (/^v?(?:19|20)\d\d[-._]?(?:0[1-9]|1[0-2]|[1-9](?!\d))(?:[-._]?(?:0[1-9]|[12]\d|3[01]|[1-9](?!\d)))?(?:[-._t].*)?$/.test(name)) return 'a date';
  if (/^\d+$/.test(name)) return 'a build number';
  const bare = name.replace(/^(?:sha|git|commit|rev)[-_]/, '');
  if (/^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(bare) || (/^[0-9a-f]{7,40}$/.test(bare) && /\d/.test(bare) && (/[a-f]/.test(bare) || bare !== name)))
    return 'a commit';
  return /^(?:build|bld|b|ci|run|job|pipeline)[-_.#]?\d+$/.test(name) ? 'a build number' : null;
}

/** `1.4.2`, `v1.4`, `release-1.4.2`, `1.4.2-alpine3.19`, `shop-1.4.2`; a suffix that does not name a variant makes it a pre-release. */
function readRelease(name: string): NameKind | null {
  const [, product = '', numbers, suffix = ''] =
    /^(?:(?:release|releases|rel)[-_/]|([a-z][a-z0-9._/-]*?)[-_@/])?v?(\d{1,255}(?:\.\d{1,255}){0,3})(?:[-._]?([a-z][\w.+-]{0,255}|\d[\w.+-]{0,255}))?(?:\+[\w.-]{1,255})?$/.exec(
      name,
    ) ?? [];
  if (numbers === undefined) return null;
  const [major = '', minor] = numbers.split('.');
  const isPlainName = product === '' && !/^rel/.test(name);
  // A number alone says too little, and `release-1.4` is a line. A product's name needs a complete version to be recognized.
  const variant = variantOf(suffix);
  if (minor === undefined && !(isPlainName && (name.startsWith('v') || (suffix !== '' && variant !== null)))) return null;
  if (!isPlainName && numbers.split('.').length < 3) return null;
  if (variant === null) return { kind: 'build', is: 'a pre-release', of: null };
  const [before, after] = [product === '' ? '' : `${product}-`, variant === '' ? '' : `-${variant}`];
  return { kind: 'version', line: `${before}${major}.x${after}`, ownLine: `${before}${minor === undefined ? major : `${major}.${minor}`}.x${after}` };
}

/** The variant without its own versions: `alpine` for `alpine3.19`. Empty if the suffix only says that it is a release. Null if it is a pre-release. */
function variantOf(suffix: string): string | null {
  if (suffix === '' || /^(?:final|release|ga)$/.test(suffix)) return '';
  const parts = suffix.split(/[-_]/).filter((part) => !/^(?:r?\d[\d.]*)$/.test(part));
  if (parts.length === 0 || !parts.every((part) => VARIANT.test(part))) return null;
  return parts.map((part) => part.replace(/(?<![\d.])[\d.]+$/, '')).join('-');
}

/** A build that is named after its branch: `main-1a2b3c4`, `develop-20261115-1a2b3c4`, `shop-1a2b3c4`. */
function readPrefixed(name: string): NameKind | null {
  for (let at = name.search(/[-_.]/); at !== -1; ) {
    const [before, rest] = [name.slice(0, at), name.slice(at + 1)];
    const is = buildName(rest);
    const isKnown = MAIN.test(before) || NAMED.has(before);
    if (is !== null && isKnown) return { kind: 'build', is, of: before };
    // A number after an unknown name may belong to it: "worker-2".
    if (is !== null && is !== 'a build number') return { kind: 'build', is, of: null };
    const next = rest.search(/[-_.]/);
    at = next === -1 ? -1 : at + 1 + next;
  }
  return null;
}

/**
 * Compares two versions: negative if the first is lower, 0 if they are equal. A pre-release is lower than its release. Null if one of them is not a
 * version with numbers.
 */
export function compareVersions(a: string, b: string): number | null {
  const [one, other] = [parseVersion(a), parseVersion(b)];
  if (one === null || other === null) return null;
  for (let at = 0; at < Math.max(one.numbers.length, other.numbers.length); at++) {
    const difference = (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (one.pre.length === 0 || other.pre.length === 0) return Math.sign(other.pre.length - one.pre.length);
  for (let at = 0; at < Math.max(one.pre.length, other.pre.length); at++) {
    const difference = comparePart(one.pre[at], other.pre[at]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parseVersion(text: string): { numbers: number[]; pre: string[] } | null {
  const [, numbers, pre] = /^v?(\d+(?:\.\d+)*)(?:[-_.]?([a-z][\w.-]*|(?<=-)\d[\w.-]*))?(?:\+.*)?$/i.exec(text.trim()) ?? [];
  if (numbers === undefined) return null;
  const isRelease = pre === undefined || variantOf(pre.toLowerCase()) !== null;
  // A commit can begin with a digit.
  if (!isRelease && !numbers.includes('.')) return null;
  return { numbers: numbers.split('.').map(Number), pre: isRelease ? [] : pre.toLowerCase().split(/[.-]|(?<=[a-z])(?=\d)/) };
}

/** As SemVer orders the parts of a pre-release: fewer parts first, numbers by value and before words. */
function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [one, other] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (one && other) return Number(a) - Number(b);
  if (one !== other) return one ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
