/** What the default track of an asset is called until a scan or a person names it. */
export const DEFAULT_TRACK = 'default';

/** The name of a track that people see. Only the default track may have none. */
export function trackName(name: string | null): string {
  return name ?? DEFAULT_TRACK;
}
