import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Returns the small reports in `formats/<id>/fixtures/`, which were written for this project. */
export function readFixtures(id: string): { name: string; bytes: Buffer }[] {
  const folder = new URL(`../formats/${id}/fixtures/`, import.meta.url);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) }));
}
