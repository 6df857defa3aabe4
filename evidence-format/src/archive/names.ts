import { assertFormat } from '../bytes/errors.ts';

export const MAX_NAME_LENGTH = 180;

const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a path below the top folder, with `/` between its segments, refers to the same file on every system. */
export function isSafeName(path: string, maxLength = MAX_NAME_LENGTH): boolean {
  return path.length <= maxLength && path.split('/').every((segment) => SEGMENT.test(segment) && !segment.endsWith('.') && !WINDOWS_DEVICE.test(segment));
}

export interface NameFault {
  name: string;
  fault: 'name' | 'duplicate';
}

/** Returns a function that takes names one after another and returns the fault of each, or null. */
export function nameCheck(maxLength = MAX_NAME_LENGTH): (name: string) => NameFault['fault'] | null {
  const files = new Set<string>();
  const folders = new Set<string>();
  return (name) => {
    if (!isSafeName(name, maxLength)) return 'name';
    const folded = name.toLowerCase();
    const parents = foldersOf(folded);
    if (files.has(folded) || folders.has(folded) || parents.some((folder) => files.has(folder))) return 'duplicate';
    files.add(folded);
    for (const folder of parents) folders.add(folder);
    return null;
  };
}

/** Returns unsafe names and names that collide on some systems: they differ only in case, or one is a folder of another. */
export function nameFaults(names: Iterable<string>): NameFault[] {
  const check = nameCheck();
  return [...names].flatMap((name) => {
    const fault = check(name);
    return fault === null ? [] : [{ name, fault }];
  });
}

export function assertSafeNames(names: Iterable<string>): void {
  const [first] = nameFaults(names);
  assertFormat(
    first === undefined,
    first?.fault === 'name' ? `unsafe name ${JSON.stringify(first.name)}` : `${JSON.stringify(first?.name)} refers to two files`,
  );
}

function foldersOf(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join('/'));
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const TOP_FOLDER = new RegExp(`^evidence-(${UUID})-([1-9]\\d{0,14})$`);

export function topFolder(workItemId: string, sequence: number): string {
  const name = `evidence-${workItemId}-${sequence}`;
  assertFormat(TOP_FOLDER.test(name), 'the work item ID must be a UUID and the sequence at least 1');
  return name;
}

export function parseTopFolder(name: string): { workItemId: string; sequence: number } | null {
  const [, workItemId, sequence] = TOP_FOLDER.exec(name) ?? [];
  return workItemId === undefined ? null : { workItemId, sequence: Number(sequence) };
}
