import { normalAsset } from './asset-name.ts';
import { readVersionName } from './version-name.ts';

/** Kinds of names that say nothing about the branch or environment that a build is of. */
const SILENT: ReadonlySet<string> = new Set(['version', 'build', 'unknown']);

/** The name of an image without its tag, and the branch or environment that the tag names: null if it names none, `main` for all names of the main branch. */
export function nameOfImage(reference: string): { name: string; track: string | null } {
  const { key, tag } = normalAsset({ type: 'container_image', name: reference });
  const kind = tag === null ? 'unknown' : readVersionName(tag).kind;
  if (tag === null || SILENT.has(kind)) return { name: key, track: null };
  return { name: key, track: kind === 'main' ? kind : tag.toLowerCase() };
}
