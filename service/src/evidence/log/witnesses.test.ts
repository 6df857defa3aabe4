import { generateKeyPairSync, sign } from 'node:crypto';
import { checkpointText, ed25519RawFromSpki, leafHash, noteKeyIdEd25519, noteWith, rootFromLeaves, utf8 } from '@rrs/evidence-format';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startWitness, type TestWitness, type WitnessManner } from '../../testing/fakes/witness.ts';
import { type Submission, submitTo } from './witnesses.ts';

const origin = 'log.example/orgs/1';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const logKey = ed25519RawFromSpki(publicKey.export({ type: 'spki', format: 'der' }));
const leaves = ['a', 'b', 'c', 'd'].map((entry) => leafHash(utf8(entry)));
const rootOf = (size: number) => rootFromLeaves(leaves.slice(0, size));

function submission(size: number, old: number, more: Partial<Submission> = {}): Submission {
  const text = checkpointText({ origin, size, root: rootOf(size) });
  const note = noteWith(text, [{ name: origin, keyId: noteKeyIdEd25519(origin, logKey), signature: sign(null, utf8(text), privateKey) }]);
  // The proof from two entries to three is the third one.
  return { note, size, old, prove: async (from) => (from === 2 ? leaves.slice(2, 3) : []), logSize: async () => size, ...more };
}

let witness: TestWitness;
beforeAll(async () => {
  witness = await startWitness('witness.example/w1');
});
afterAll(() => witness.close());
beforeEach(() => {
  witness.trust((name) => (name === origin ? logKey : null));
  witness.remember({ origin, size: 2, root: rootOf(2) });
  witness.behave(witness.answer);
});

describe('a witness', () => {
  it('confirms a log that extends what it knows', async () => {
    expect(await submitTo(witness, submission(3, 2))).toMatchObject({ outcome: 'cosigned', line: expect.stringMatching(/^— witness\.example\/w1 \S+\n$/) });
    expect(witness.seen(origin)).toMatchObject({ size: 3 });
  });

  it('is asked again with the size that it knows', async () => {
    expect(await submitTo(witness, submission(3, 0))).toMatchObject({ outcome: 'cosigned' });
  });

  it('contradicts a log that is smaller, or that is another tree', async () => {
    expect(await submitTo(witness, submission(1, 0))).toMatchObject({ outcome: 'contradicted', size: 2 });
    witness.remember({ origin, size: 2, root: Buffer.alloc(32, 1) });
    expect(await submitTo(witness, submission(3, 2))).toMatchObject({ outcome: 'contradicted', size: null });
    expect(await submitTo(witness, submission(2, 2))).toMatchObject({ outcome: 'contradicted', size: null });
  });

  it('that has confirmed a later entry of the same log does not contradict it', async () => {
    expect(await submitTo(witness, submission(1, 0, { logSize: async () => 3 }))).toMatchObject({
      outcome: 'missing',
      problem: 'it has confirmed 2 entries already',
    });
  });

  it.for<[string, WitnessManner]>([
    ['refuses the request', (_, reply) => void reply.writeHead(400).end()],
    ['fails', (_, reply) => void reply.writeHead(500).end()],
    ['redirects', (_, reply) => void reply.writeHead(307, { location: '/elsewhere' }).end()],
    ['answers with garbage', (_, reply) => void reply.writeHead(200).end('— witness.example/w1 AAAA\n')],
    ['answers with too much', (_, reply) => void reply.writeHead(200).write('x'.repeat(20_000))],
    ['signs another checkpoint', (_, reply) => void reply.writeHead(200).end(witness.cosign(checkpointText({ origin, size: 3, root: Buffer.alloc(32) })))],
    ['names no size in a conflict', (_, reply) => void reply.writeHead(409).end('many\n')],
    ['reports one conflict after the other', (_, reply) => void reply.writeHead(409).end('1\n')],
    ['disconnects', (_, reply) => void reply.destroy()],
  ])('that %s is missing', async ([, manner]) => {
    witness.behave(manner);
    expect(await submitTo(witness, submission(3, 2))).toMatchObject({ outcome: 'missing' });
  });

  it('that does not know the log or its key is missing', async () => {
    witness.trust(() => null);
    expect(await submitTo(witness, submission(3, 2))).toMatchObject({ outcome: 'missing', problem: 'HTTP status 404' });
    witness.trust(() => Buffer.alloc(32, 1));
    expect(await submitTo(witness, submission(3, 2))).toMatchObject({ outcome: 'missing', problem: 'HTTP status 403' });
  });

  it('whose answer is signed with another key than the configured one is missing', async () => {
    const configured = { ...witness, key: logKey };
    expect(await submitTo(configured, submission(3, 2))).toMatchObject({ outcome: 'missing', problem: expect.stringContaining('no cosignature') });
  });

  it('that never answers is missing after the time limit', async () => {
    witness.behave(() => {});
    const started = performance.now();
    expect(await submitTo(witness, submission(3, 2), 100)).toMatchObject({ outcome: 'missing' });
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
