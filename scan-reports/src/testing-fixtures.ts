import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Small reports written for this project, in `formats/<id>/fixtures/`. */
export function readFixtures(id: string): { name: string; bytes: Buffer }[] {
  const folder = new URL(`./formats/${id}/fixtures/`, import.meta.url);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) }));
}
