import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Source {
  /** Relative to the root of the repository, with "/" as separator. */
  path: string;
  text: string;
}

export interface Violation {
  path: string;
  line: number;
  message: string;
}

/** A rule of ARCHITECTURE.md that a program checks. Pure, so that tests can plant violations. */
export type Check = (sources: readonly Source[]) => Violation[];

const root = join(import.meta.dirname, '..');

/** All text files of the repository: those that git tracks, and new ones that it does not ignore. */
export function readSources(): Source[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  const paths = [...new Set(listed.split('\0'))].filter((path) => /\.(tsx?|mjs|js|sql|md|json|yml)$/.test(path) && existsSync(join(root, path)));
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

export const isTest = ({ path }: Source): boolean => /\.test\.tsx?$|\/testing\/|\/fake[\w-]*\.ts$/.test(path);
const GENERATED = ['service/src/db/types.ts', 'client/src/api.ts', 'client/src/operations.ts'];
/** Sources that people write. */
export const isTypeScript = ({ path }: Source): boolean => /\.tsx?$/.test(path) && !GENERATED.includes(path);
