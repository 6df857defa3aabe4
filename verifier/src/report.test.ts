import { expect, test } from 'vitest';
import { bytesSource } from './archive/source.ts';
import { nodePlatform } from './node.ts';
import { browserPlatform } from './platform.ts';
import { CheckingStopped, createRecorder } from './report.ts';
import { testAuthority } from './testing/authority.ts';
import { buildPackage, zipOf } from './testing/build.ts';
import { verifyPackage } from './verify.ts';

const authority = await testAuthority();
const built = await buildPackage({ stamps: [authority.stamp] });
const trust = { ...built.trust, timestampRoots: [authority.root] };
const zip = await zipOf(built);

test('a layer without a result is not checked, and a failure overrides a pass', () => {
  const recorder = createRecorder();
  recorder.setLayer('log', 'pass', 'fine');
  recorder.fail('inclusion', 'proof/x', 'wrong');
  const result = Object.fromEntries(recorder.layers().map(({ name, result }) => [name, result]));
  expect(result).toMatchObject({ log: 'fail', container: 'not_checked', time: 'not_checked' });
});

test('stops after 100 failures, inside a guard too', async () => {
  const recorder = createRecorder();
  const failing = () => {
    for (let count = 0; count < 5000; count++) recorder.fail('payload_extra', `data/${count}`, 'extra');
  };
  await expect(recorder.guard('archive', '', () => recorder.guard('manifest', '', failing))).rejects.toThrow(CheckingStopped);
  expect(recorder.failures.length).toBe(100);
  expect(recorder.notes).toEqual(['Checking stopped after 100 failures. There may be more.']);
});

test('a time limit that is reached is a failure', async () => {
  const report = await verifyPackage(bytesSource(zip), trust, nodePlatform(), { timeLimit: 0 });
  expect(report).toMatchObject({ verdict: 'failed', failures: [{ code: 'deadline' }], package: null });
});

/** Each of these breaks the environment of the verifier, not the package. */
const brokenEnvironments = {
  'a source that cannot be read': () => verifyPackage({ size: zip.length, read: () => Promise.reject(new Error('the disk is gone')) }, trust, nodePlatform()),
  'a source that throws in the middle': () => {
    let reads = 0;
    const read = async (offset: number, length: number) => {
      if (++reads > 3) throw new Error('the disk is gone');
      return zip.subarray(offset, offset + length);
    };
    return verifyPackage({ size: zip.length, read }, trust, nodePlatform());
  },
  'a source that returns fewer bytes than requested': () =>
    verifyPackage({ size: zip.length, read: async (offset, length) => zip.subarray(offset, offset + length - 1) }, trust, nodePlatform()),
  'a hash function that throws': () =>
    verifyPackage(bytesSource(zip), trust, {
      ...nodePlatform(),
      sha256: () => {
        throw new Error('broken');
      },
    }),
  'a hash function with a wrong result': () =>
    verifyPackage(bytesSource(zip), trust, { ...nodePlatform(), sha256: () => ({ update() {}, digest: () => new Uint8Array(32) }) }),
  'a CRC function with a wrong result': () => verifyPackage(bytesSource(zip), trust, { ...nodePlatform(), crc32: () => 0 }),
  'no WebCrypto': () => verifyPackage(bytesSource(zip), trust, { ...nodePlatform(), subtle: undefined as never }),
  'a WebCrypto without Ed25519': () =>
    verifyPackage(bytesSource(zip), trust, {
      ...nodePlatform(),
      subtle: {
        importKey: () => Promise.reject(new DOMException('unknown', 'NotSupportedError')),
        digest: (name: string, data: Uint8Array<ArrayBuffer>) => globalThis.crypto.subtle.digest(name, data),
      } as never,
    }),
};

test.for(Object.entries(brokenEnvironments))('fails closed: %s', async ([, broken]) => {
  const report = await broken();
  expect(report.verdict).toBe('failed');
  expect(report.failures.length).toBeGreaterThan(0);
});

test('the same package is verified in a working environment', async () => {
  expect((await verifyPackage(bytesSource(zip), trust, nodePlatform())).verdict).toBe('verified');
  expect((await verifyPackage(bytesSource(zip), trust, browserPlatform())).verdict).toBe('verified');
});

test('the summary contains the conclusion, the log and the keys', async () => {
  const { package: summary } = await verifyPackage(bytesSource(zip), trust, nodePlatform());
  expect(summary).toMatchObject({
    conclusion: 'remediated',
    grade: 'A',
    sequence: 2,
    supersedes: { sequence: 1 },
    log: { index: 6, size: 7 },
    timestamps: [{ time: '2026-03-04T05:07:00.000Z', authority: 'Test TSA', trusted: true }],
    keys: { package: expect.stringMatching(/^SHA256:/), log: expect.stringMatching(/^SHA256:/), note: trust.noteKeys[0] },
  });
});
