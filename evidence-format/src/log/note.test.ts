import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toBase64 } from '../bytes/bytes.ts';
import { FormatError } from '../bytes/errors.ts';
import { consistencyText, parseConsistency } from './consistency.ts';
import { checkpointText, noteWith, parseCheckpoint, parseNote } from './note.ts';
import { parseTlogProof, tlogProofText } from './tlog-proof.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const origin = fc.constantFrom('rrs.example/orgs/0190a8f0', 'rrs.example/orgs/0190a8f0 - 1', 'log — name');
const checkpoint = fc.record({ origin, size: fc.maxSafeNat(), root: hash });
const signature = fc.record({
  name: fc.constantFrom('rrs.example/orgs/0190a8f0', 'witness—name'),
  keyId: fc.uint8Array({ minLength: 4, maxLength: 4 }),
  signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
});
const note = fc
  .tuple(checkpoint, fc.array(signature, { minLength: 1, maxLength: 3 }))
  .map(([fields, signatures]) => ({ fields, signatures, note: noteWith(checkpointText(fields), signatures) }));

test('a checkpoint in a note round-trips', () => {
  fc.assert(
    fc.property(note, ({ fields, signatures, note: text }) => {
      const parsed = parseNote(text);
      expect(parsed.signatures).toEqual(signatures);
      expect(parseCheckpoint(parsed.text)).toEqual(fields);
    }),
  );
});

test('matches the C2SP form', () => {
  const text = checkpointText({ origin: 'example.com/log', size: 20852163, root: new Uint8Array(32) });
  expect(text).toBe(`example.com/log\n20852163\n${'A'.repeat(43)}=\n`);
  expect(noteWith(text, [{ name: 'example.com/log', keyId: Uint8Array.of(1, 2, 3, 4), signature: Uint8Array.of(5) }])).toBe(
    `${text}\n— example.com/log AQIDBAU=\n`,
  );
});

/** An accepted text must be the one that would be written, so that every byte of a file has a meaning. */
function exact<T>(parse: (text: string) => T, write: (value: T) => string): (text: string) => void {
  return (text) => {
    let value: T;
    try {
      value = parse(text);
    } catch (error) {
      expect(error).toBeInstanceOf(FormatError);
      return;
    }
    expect(write(value)).toBe(text);
  };
}

const edits = fc.record({ at: fc.nat(), remove: fc.nat(3), insert: fc.constantFrom('', '\n', ' ', '0', 'A', '=', '—', '\r', '\n\n', '+') });

function edited(text: string, { at, remove, insert }: { at: number; remove: number; insert: string }): string {
  const position = at % (text.length + 1);
  return text.slice(0, position) + insert + text.slice(position + remove);
}

describe('an edited file is refused unless it is in its exact form', () => {
  const proof = fc.record({ index: fc.maxSafeNat(), hashes: fc.array(hash, { maxLength: 4 }), checkpoint: note.map(({ note: text }) => text) });
  const consistency = fc.record({ oldSize: fc.integer({ min: 1, max: 1000 }), oldRoot: hash, hashes: fc.array(hash, { maxLength: 4 }) });
  const runs = { numRuns: 2000 };

  test('note', () => {
    const check = exact(parseNote, ({ text, signatures }) => noteWith(text, signatures));
    fc.assert(
      fc.property(note, edits, (made, edit) => check(edited(made.note, edit))),
      runs,
    );
  });
  test('checkpoint', () => {
    const check = exact(parseCheckpoint, checkpointText);
    fc.assert(
      fc.property(checkpoint, edits, (fields, edit) => check(edited(checkpointText(fields), edit))),
      runs,
    );
  });
  test('tlog-proof', () => {
    const check = exact(parseTlogProof, tlogProofText);
    fc.assert(
      fc.property(proof, edits, (made, edit) => {
        expect(parseTlogProof(tlogProofText(made))).toEqual(made);
        check(edited(tlogProofText(made), edit));
      }),
      runs,
    );
  });
  test('consistency', () => {
    const check = exact(parseConsistency, consistencyText);
    fc.assert(
      fc.property(consistency, edits, (made, edit) => {
        expect(parseConsistency(consistencyText(made))).toEqual(made);
        check(edited(consistencyText(made), edit));
      }),
      runs,
    );
  });
});

test('the first leaf of a log has an empty consistency proof', () => {
  expect(consistencyText({ oldSize: 0 })).toBe('old 0\n');
  expect(parseConsistency('old 0\n')).toEqual({ oldSize: 0 });
  const root = toBase64(new Uint8Array(32));
  for (const wrong of [`old 0\n${root}\n`, 'old 1\n', 'old 01\n', `old 1\n${root}`, '', 'old\n', `old 1\n${root}\n\n`, `old 9007199254740992\n${root}\n`]) {
    expect(() => parseConsistency(wrong), wrong).toThrow(FormatError);
  }
});

test('refuses to write what it could not read', () => {
  const root = new Uint8Array(32);
  expect(() => checkpointText({ origin: 'a\nb', size: 1, root })).toThrow('one line');
  expect(() => checkpointText({ origin: '', size: 1, root })).toThrow('one line');
  expect(() => checkpointText({ origin: 'a', size: -1, root })).toThrow('whole number');
  expect(() => checkpointText({ origin: 'a', size: 1.5, root })).toThrow('whole number');
  expect(() => checkpointText({ origin: 'a', size: 1, root: new Uint8Array(31) })).toThrow('SHA-256');
  expect(() => noteWith('a', [])).toThrow('line feed');
});
