/** Tells a single build, and not where it belongs: a commit, date, build number or pre-release. */
const BUILD = /^[0-9a-f]{7,64}$|^\d{3,6}$|-(?:rc|alpha|beta|dev|snapshot|pre)(?![a-z])/i;
const VERSION = /^v?\d{1,3}(?![0-9a-z])/i;
const { compare } = new Intl.Collator('en', { numeric: true });

/**
 * Returns the tag that stands for all tags of an image, or for the whole references with them. Reports list them in any order. A version tells more of the
 * track than a name that moves, and a name more than that of a single build. The last one in alphabetical order decides, which is the highest version.
 */
export function oneTag(tags: readonly string[]): string | undefined {
  return [...tags].sort((a, b) => rankOf(b) - rankOf(a) || compare(a, b) || (a < b ? -1 : 1)).at(-1);
}

function rankOf(reference: string): number {
  const tag = reference.slice(reference.lastIndexOf(':') + 1);
  if (BUILD.test(tag)) return 2;
  return VERSION.test(tag) ? 0 : 1;
}
