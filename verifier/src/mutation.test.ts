import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesSource } from './archive/source.ts';
import { nodePlatform } from './node.ts';
import { testAuthority } from './testing/authority.ts';
import { type Built, buildPackage, zipOf } from './testing/build.ts';
import { rawEntries, rawZip } from './testing/raw-zip.ts';
import { verifyPackage } from './verify.ts';

const authority = await testAuthority();
const built = await buildPackage({ stamps: [authority.stamp] });
const trust = { ...built.trust, timestampRoots: [authority.root] };
const zip = await zipOf(built);
const platform = nodePlatform();

async function verdictOf(bytes: Uint8Array): Promise<string> {
  return (await verifyPackage(bytesSource(bytes), trust, platform)).verdict;
}

const seeded = { seed: 20_260_304, interruptAfterTimeLimit: 6000, markInterruptAsFailure: false } as const;
const position = fc.nat(zip.length - 1);

/** Runs as many mutants as the time allows, always in the same order. */
async function expectFailures(mutants: fc.Arbitrary<Uint8Array>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(mutants, async (mutant) => {
      expect(await verdictOf(mutant)).toBe('failed');
    }),
    { ...seeded, numRuns },
  );
}

test('the package is verified without a mutation', async () => {
  expect(await verdictOf(zip)).toBe('verified');
  expect(await verdictOf(rawZip(rawEntries(built.folder, built.files)))).toBe('verified');
});

test('a changed byte anywhere fails', () =>
  expectFailures(
    fc.tuple(position, fc.integer({ min: 1, max: 255 })).map(([at, mask]) => {
      const mutant = Uint8Array.from(zip);
      mutant[at] = (mutant[at] ?? 0) ^ mask;
      return mutant;
    }),
    1500,
  ));

test('removed, inserted or swapped bytes fail', () =>
  expectFailures(
    fc.oneof(
      fc.tuple(position, fc.integer({ min: 1, max: 50 })).map(([at, count]) => Buffer.concat([zip.subarray(0, at), zip.subarray(at + count)])),
      fc.tuple(position, fc.uint8Array({ minLength: 1, maxLength: 50 })).map(([at, extra]) => Buffer.concat([zip.subarray(0, at), extra, zip.subarray(at)])),
      fc
        .tuple(position, position, fc.integer({ min: 1, max: 40 }))
        .map(([a, b, length]) => swapped(a, b, length))
        .filter((mutant) => !Buffer.from(mutant).equals(zip)),
    ),
    600,
  ));

/** Swaps two ranges that do not overlap. */
function swapped(one: number, other: number, most: number): Uint8Array {
  const [a, b] = [Math.min(one, other), Math.max(one, other)];
  const length = Math.min(most, b - a, zip.length - b);
  return Buffer.concat([zip.subarray(0, a), zip.subarray(b, b + length), zip.subarray(a + length, b), zip.subarray(a, a + length), zip.subarray(b + length)]);
}

const paths = [...built.files.keys()];
const path = fc.constantFrom(...paths);

/** Mutants of the files, packed into a valid ZIP. */
const fileMutants: fc.Arbitrary<Built['files']> = fc.oneof(
  path.map((gone) => changed((files) => files.delete(gone))),
  fc
    .tuple(fc.stringMatching(/^(data|proof)\/[a-z]{1,8}$|^[a-z]{1,8}$/), fc.uint8Array({ maxLength: 20 }))
    .map(([name, bytes]) => changed((files) => files.set(name, bytes))),
  fc.tuple(path, fc.stringMatching(/^[a-z0-9]{1,4}$/)).map(([from, ending]) =>
    changed((files) => {
      files.set(`${from}${ending}`, files.get(from) ?? new Uint8Array());
      files.delete(from);
    }),
  ),
  fc
    .tuple(path, path)
    .filter(([a, b]) => a !== b)
    .map(([a, b]) =>
      changed((files) => {
        const [first, second] = [files.get(a), files.get(b)];
        files.set(a, second ?? new Uint8Array());
        files.set(b, first ?? new Uint8Array());
      }),
    ),
  fc.tuple(path, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([name, at, mask]) =>
    changed((files) => {
      const bytes = Uint8Array.from(files.get(name) ?? []);
      const index = at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ mask;
      files.set(name, bytes);
    }),
  ),
  fc
    .tuple(path, fc.nat())
    .map(([name, at]) => changed((files) => files.set(name, (files.get(name) ?? new Uint8Array()).slice(0, at % (files.get(name)?.length ?? 1))))),
);

function changed(tamper: (files: Built['files']) => void): Built['files'] {
  const files = new Map(built.files);
  tamper(files);
  return files;
}

test('removed, added, renamed, swapped, changed or truncated files fail', () =>
  expectFailures(
    fileMutants.map((files) => rawZip(rawEntries(built.folder, files))),
    600,
  ));
