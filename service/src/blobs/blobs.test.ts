import { createHash } from 'node:crypto';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startS3Fake } from '../testing/fakes/s3.ts';
import type { BlobRef, BlobStore } from './blobs.ts';
import { openFileStore } from './file-store.ts';
import { openS3Store } from './s3-store.ts';

interface Opened {
  store: BlobStore;
  /** Makes the blob two hours older. */
  age(sha256: string): Promise<void>;
  onUpload(watch: () => void): void;
  close(): Promise<void>;
}

const ABSENT = 'a'.repeat(64);
const MIB = 1024 * 1024;
const TWO_HOURS_AGO = new Date(Math.floor(Date.now() / 1000 - 2 * 60 * 60) * 1000);

async function onFiles(): Promise<Opened> {
  const root = await mkdtemp(join(tmpdir(), 'blobs-'));
  return {
    store: openFileStore(join(root, 'blobs')),
    age: (sha256) => utimes(join(root, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256), TWO_HOURS_AGO, TWO_HOURS_AGO),
    onUpload: () => {},
    close: () => rm(root, { recursive: true }),
  };
}

async function onS3(): Promise<Opened> {
  const fake = await startS3Fake({ pageSize: 7 });
  return {
    store: await openS3Store({ ...fake, prefix: 'blobs', forcePathStyle: true }),
    age: async (sha256) => {
      const object = fake.objects.get(`blobs/${sha256}`);
      if (object) object.modified = TWO_HOURS_AGO;
    },
    onUpload: (watch) => {
      fake.onUpload = watch;
    },
    close: fake.close,
  };
}

function bytes(text: string): Readable {
  return Readable.from([Buffer.from(text)]);
}

function named(content: string | Uint8Array): BlobRef {
  return { sha256: createHash('sha256').update(content).digest('hex'), size: Buffer.byteLength(content) };
}

async function read(store: BlobStore, sha256: string): Promise<Buffer> {
  const stream = await store.get(sha256);
  if (!stream) throw new Error(`${sha256} is absent`);
  return buffer(stream);
}

/** Copies each piece before it requests the next, because the buffer is reused. */
async function copied(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const kept: Buffer[] = [];
  for await (const piece of pieces) kept.push(Buffer.from(piece));
  return Buffer.concat(kept);
}

async function listed(store: BlobStore): Promise<BlobRef[]> {
  const found: BlobRef[] = [];
  for await (const { sha256, size } of store.list()) found.push({ sha256, size });
  return found.sort((a, b) => a.sha256.localeCompare(b.sha256));
}

/** Measures the live buffers at each 32nd sample, relative to now. Collects garbage first, so that it does not count. */
function memoryMeter(): { sample(): void; peak(): number } {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const alive = (): number => {
    gc();
    return process.memoryUsage().arrayBuffers;
  };
  // Buffers of earlier tests may be freed only now.
  let least = alive();
  let samples = 0;
  let peak = 0;
  return {
    sample: () => {
      if (samples++ % 32 !== 0) return;
      const now = alive();
      least = Math.min(least, now);
      peak = Math.max(peak, now - least);
    },
    peak: () => peak,
  };
}

describe.each([
  ['files', onFiles],
  ['S3', onS3],
])('a blob store on %s', (_name, open) => {
  let opened: Opened;
  let store: BlobStore;

  beforeAll(async () => {
    opened = await open();
    store = opened.store;
  });
  afterAll(() => opened.close());

  async function emptied(): Promise<void> {
    for await (const { sha256 } of store.list()) await store.delete(sha256);
  }

  it('is usable while it is empty', async () => {
    expect(await listed(store)).toEqual([]);
    expect(await store.get(ABSENT)).toBeNull();
    expect(await store.stat(ABSENT)).toBeNull();
    await store.delete(ABSENT);
    await store.check();
  });

  it('returns stored content by its hash', async () => {
    const ref = await store.put(bytes('a report'));
    expect(ref).toEqual(named('a report'));
    expect((await read(store, ref.sha256)).toString()).toBe('a report');
    expect(await store.stat(ref.sha256)).toMatchObject(ref);
  });

  it('stores the empty blob', async () => {
    const ref = await store.put(Readable.from([]));
    expect(ref).toEqual(named(''));
    expect(await store.stat(ref.sha256)).toMatchObject(ref);
    expect(await read(store, ref.sha256)).toHaveLength(0);
  });

  it('stores equal content once, even with 50 concurrent puts', async () => {
    await emptied();
    const refs = await Promise.all(Array.from({ length: 50 }, () => store.put(bytes('the same'))));
    refs.push(await store.put(bytes('the same')));
    expect(new Set(refs.map((ref) => ref.sha256)).size).toBe(1);
    expect(await listed(store)).toEqual([named('the same')]);
    expect((await read(store, named('the same').sha256)).toString()).toBe('the same');
  });

  it('stores any bytes in any chunks under their SHA-256', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(chunks, async (parts) => {
        const whole = Buffer.concat(parts);
        const ref = await store.put(Readable.from(parts));
        expect(ref).toEqual(named(whole));
        expect(whole.equals(await read(store, ref.sha256))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('accepts a source that reuses its buffer', async () => {
    async function* reusing(): AsyncGenerator<Uint8Array> {
      const chunk = Buffer.alloc(1000);
      for (let i = 0; i < 10; i++) yield chunk.fill(i);
    }
    const expected = Buffer.concat(Array.from({ length: 10 }, (_, i) => Buffer.alloc(1000, i)));
    const ref = await store.put(reusing());
    expect(expected.equals(await read(store, ref.sha256))).toBe(true);
  });

  it('passes 20 MiB through constant memory', async () => {
    const { sample, peak } = memoryMeter();
    const hash = createHash('sha256');
    async function* large(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 320; i++) {
        const chunk = Buffer.alloc(64 * 1024, i % 251);
        hash.update(chunk);
        sample();
        yield chunk;
      }
    }
    opened.onUpload(sample);
    const ref = await store.put(Readable.from(large()));
    opened.onUpload(() => {});
    expect(ref).toEqual({ sha256: hash.digest('hex'), size: 20 * MIB });

    let size = 0;
    for await (const chunk of (await store.get(ref.sha256)) ?? []) {
      size += chunk.length;
      sample();
    }
    expect(size).toBe(20 * MIB);
    expect(peak()).toBeGreaterThan(0);
    expect(peak()).toBeLessThan(10 * MIB);
  });

  it('returns any range of any content', async () => {
    const parts = fc.uint8Array({ minLength: 1, maxLength: 300_000 }).chain((whole) => {
      const at = fc.nat(whole.length - 1);
      return fc.tuple(fc.constant(whole), at, at);
    });
    await fc.assert(
      fc.asyncProperty(parts, async ([whole, one, other]) => {
        const { sha256 } = await store.put(Readable.from([whole]));
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        const stream = await store.getRange(sha256, { start, end });
        const part = Buffer.from(whole.subarray(start, end + 1));
        expect(part.equals(await buffer(stream ?? Readable.from([])))).toBe(true);
        expect(part.equals(await copied(store.pieces(sha256, { start, end })))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('returns no range of a missing blob, and fails for a range past the end', async () => {
    expect(await store.getRange(ABSENT, { start: 0, end: 1 })).toBeNull();
    const { sha256 } = await store.put(bytes('12345'));
    const stream = await store.getRange(sha256, { start: 3, end: 9 });
    await expect(buffer(stream ?? Readable.from([]))).rejects.toMatchObject({ code: 'internal_error' });
    await expect(copied(store.pieces(ABSENT, { start: 0, end: 1 }))).rejects.toThrow('not in the store');
    await expect(copied(store.pieces(sha256, { start: 3, end: 9 }))).rejects.toThrow('incomplete');
  });

  it('calls onNamed before the blob is visible, and drops the blob if it throws', async () => {
    const ref = named('called');
    const seen = await new Promise((resolve, reject) => {
      const onNamed = async (called: BlobRef) => resolve({ called, found: await store.stat(called.sha256) });
      store.put(bytes('called'), { onNamed }).catch(reject);
    });
    expect(seen).toEqual({ called: ref, found: null });
    const refused = store.put(bytes('refused'), { onNamed: () => Promise.reject(new Error('no')) });
    await expect(refused).rejects.toThrow('no');
    expect(await store.stat(named('refused').sha256)).toBeNull();
  });

  it('hides a blob until it is complete', async () => {
    const ref = named('first second');
    async function* watched(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('first ');
      expect(await store.get(ref.sha256)).toBeNull();
      expect(await store.stat(ref.sha256)).toBeNull();
      expect(await listed(store)).not.toContainEqual(expect.objectContaining({ sha256: ref.sha256 }));
      yield Buffer.from('second');
    }
    expect(await store.put(watched())).toEqual(ref);
  });

  it('stores nothing if the source fails, and fails with the same error', async () => {
    await emptied();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of ');
      throw new Error('the scanner hung up');
    }
    await expect(store.put(failing())).rejects.toThrow('the scanner hung up');
    await expect(store.put(Readable.from(failing()))).rejects.toThrow('the scanner hung up');
    await expect(store.put(Readable.from(['text']))).rejects.toThrow('bytes');
    await expect(store.put(bytes('gone').destroy())).rejects.toThrow(/premature|destroyed|aborted/i);
    expect(await listed(store)).toEqual([]);
  });

  it('accepts exactly maxBytes and refuses more', async () => {
    await emptied();
    const content = bytes('12345');
    await expect(store.put(content, { maxBytes: 4 })).rejects.toMatchObject({
      name: 'AppError',
      code: 'payload_too_large',
      message: expect.stringContaining('exceeds the limit of 4 bytes'),
    });
    expect(content.destroyed).toBe(false);
    expect(await listed(store)).toEqual([]);
    expect(await store.put(bytes('1234'), { maxBytes: 4 })).toEqual(named('1234'));
  });

  it.each(['../../etc/passwd', '', 'A'.repeat(64), 'a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(64)}\n`, `../${'a'.repeat(64)}`])(
    'refuses the name %j',
    async (name) => {
      await expect(store.get(name)).rejects.toThrow(TypeError);
      await expect(store.getRange(name, { start: 0, end: 0 })).rejects.toThrow(TypeError);
      await expect(copied(store.pieces(name, { start: 0, end: 0 }))).rejects.toThrow(TypeError);
      await expect(store.stat(name)).rejects.toThrow(TypeError);
      await expect(store.delete(name)).rejects.toThrow(TypeError);
    },
  );

  it('tells when content was stored, and renews it when equal content is stored again', async () => {
    const { sha256 } = await store.put(bytes('old'));
    await opened.age(sha256);
    expect((await store.stat(sha256))?.storedAt).toEqual(TWO_HOURS_AGO);
    const times: Date[] = [];
    for await (const one of store.list()) if (one.sha256 === sha256) times.push(one.storedAt);
    expect(times).toEqual([TWO_HOURS_AGO]);
    await store.put(bytes('old'));
    expect((await store.stat(sha256))?.storedAt.getTime()).toBeGreaterThan(TWO_HOURS_AGO.getTime() + 60 * 60 * 1000);
  });

  it('deletes blobs', async () => {
    const { sha256 } = await store.put(bytes('short-lived'));
    await store.delete(sha256);
    expect(await store.get(sha256)).toBeNull();
    expect(await store.stat(sha256)).toBeNull();
    await store.delete(sha256);
  });

  it('lists more than one page', async () => {
    await emptied();
    const refs = await Promise.all(Array.from({ length: 50 }, (_, i) => store.put(bytes(`blob ${i}`))));
    expect(await listed(store)).toEqual(refs.sort((a, b) => a.sha256.localeCompare(b.sha256)));
  });

  it('releases streams that are destroyed unread', async () => {
    const { sha256 } = await store.put(Readable.from([Buffer.alloc(MIB)]));
    for (let i = 0; i < 300; i++) (await store.get(sha256))?.destroy();
    expect(await read(store, sha256)).toHaveLength(MIB);
  });
});
