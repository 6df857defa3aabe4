import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, newId, uuidFromBytes, uuidToBytes } from './ids.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function millisOf(id: string): number {
  return uuidToBytes(id).readUIntBE(0, 6);
}

function expectAscending(ids: readonly string[]): void {
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
}

describe('newId', () => {
  it('returns a UUIDv7 with the creation time', () => {
    const before = Date.now();
    const id = newId();
    expect(id).toMatch(V7);
    expect(millisOf(id)).toBeGreaterThanOrEqual(before);
    expect(millisOf(id)).toBeLessThanOrEqual(Date.now());
  });

  it('returns ascending IDs, even thousands within one millisecond', () => {
    const now = Date.now() + 1_000;
    const ids = Array.from({ length: 20_000 }, () => newId(now));
    expect(ids.every((id) => V7.test(id))).toBe(true);
    expectAscending(ids);
  });

  it('returns ascending IDs if the clock stands still, jumps ahead or goes back', () => {
    let base = Date.now() + 10_000;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 2, maxLength: 200 }), (steps) => {
        const ids = steps.map((step) => {
          base += step;
          return newId(base);
        });
        expectAscending(ids);
      }),
    );
  });

  it('returns IDs that cannot be predicted from earlier ones', () => {
    const tails = Array.from({ length: 10_000 }, () => newId().slice(-12));
    expect(new Set(tails).size).toBe(tails.length);
    const seen = Array.from({ length: 2_000 }, () => uuidToBytes(newId()).subarray(9));
    for (let bit = 0; bit < 56; bit++) {
      const ones = seen.filter((bytes) => ((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      expect(ones).toBeGreaterThan(800);
      expect(ones).toBeLessThan(1_200);
    }
  });
});

describe('uuidToBytes and uuidFromBytes', () => {
  it('are inverse functions', () => {
    fc.assert(fc.property(fc.uuid(), (id) => uuidFromBytes(uuidToBytes(id)) === id));
    fc.assert(fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => uuidToBytes(uuidFromBytes(Buffer.from(bytes))).equals(bytes)));
  });
});

describe('isUuid', () => {
  it('accepts only the canonical lower-case form', () => {
    fc.assert(fc.property(fc.uuid(), (id) => isUuid(id)));
    const id = newId();
    for (const other of [id.toUpperCase(), id.replaceAll('-', ''), ` ${id}`, `${id}\n`, `${id}0`, id.slice(1), `{${id}}`, `urn:uuid:${id}`, '', 'default']) {
      expect(isUuid(other)).toBe(false);
    }
  });
});
