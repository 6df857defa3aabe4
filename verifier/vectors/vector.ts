import type { Code } from '../src/codes.ts';
import type { Report } from '../src/report.ts';
import { type Built, buildPackage, type Files, type Recipe, zipOf } from '../src/testing/build.ts';
import { type RawEntry, rawEntries, rawZip } from '../src/testing/raw-zip.ts';
import type { Trust } from '../src/trust/trust.ts';
import type { VerifyOptions } from '../src/verify.ts';

/** A package, the trusted keys, and the expected verdict with exactly these codes. If `more` is set, further codes are allowed. */
export interface Vector {
  name: string;
  verdict: Report['verdict'];
  codes: Code[];
  more?: true;
  make(): Promise<{ zip: Uint8Array; trust: Trust; options?: VerifyOptions }>;
}

type Make = Vector['make'];

/** Seals a package with faulty content. */
export function sealed(recipe: Recipe = {}, trust: (trust: Trust) => Trust = (given) => given): Make {
  return async () => {
    const built = await buildPackage(recipe);
    return { zip: await zipOf(built), trust: trust(built.trust) };
  };
}

/** Changes files after sealing and writes a valid ZIP. */
export function changed(tamper: (files: Files) => void, recipe: Recipe = {}): Make {
  return entries((_, { folder, files }) => {
    tamper(files);
    return rawEntries(folder, files);
  }, recipe);
}

/** Changes the ZIP entries, in ways that the real writer would refuse. */
export function entries(tamper: (entries: RawEntry[], built: Built) => RawEntry[], recipe: Recipe = {}): Make {
  return async () => {
    const built = await buildPackage(recipe);
    return { zip: rawZip(tamper(rawEntries(built.folder, built.files), built)), trust: built.trust };
  };
}

/** Changes the bytes of the ZIP. */
export function bytes(tamper: (zip: Buffer) => Uint8Array): Make {
  return async () => {
    const built = await buildPackage();
    return { zip: tamper(Buffer.from(await zipOf(built))), trust: built.trust };
  };
}

export function failing(name: string, codes: Code[], make: Make): Vector {
  return { name, verdict: 'failed', codes, make };
}

/** A false statement often contradicts several others. */
export function atLeast(vector: Vector): Vector {
  return { ...vector, more: true };
}

export function edit(files: Files, path: string, change: (text: string) => string): void {
  const before = Buffer.from(files.get(path) ?? '').toString();
  const after = change(before);
  if (after === before) throw new Error(`${path} was not changed`);
  files.set(path, new Uint8Array(Buffer.from(after)));
}
