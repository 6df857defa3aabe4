import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import {
  type Checkpoint,
  cosignatureLine,
  cosignatureMessage,
  ed25519RawFromSpki,
  emptyRoot,
  equalBytes,
  fromBase64,
  noteKeyIdEd25519,
  noteWith,
  parseCheckpoint,
  parseNote,
  spkiFromEd25519Raw,
  verifyConsistency,
  witnessKeyId,
} from '@rrs/evidence-format';
import type { Witness } from '../../evidence/log/witnesses.ts';

/** Handles one submission. */
export type WitnessManner = (body: string, reply: ServerResponse) => void;

export interface TestWitness extends Witness {
  /** The log keys that the witness knows for an origin. `null`: it does not know the origin. */
  trust(known: (origin: string) => Uint8Array | null): void;
  /** The latest checkpoint that it cosigned. */
  seen(origin: string): Checkpoint | undefined;
  /** Makes it remember another state. */
  remember(checkpoint: Checkpoint): void;
  behave(manner: WitnessManner): void;
  /** The response to a submission with this text. */
  cosign(text: string): string;
  /** The correct behaviour, and the default. */
  answer: WitnessManner;
  asked(): number;
  close(): Promise<void>;
}

/** A witness as c2sp.org/tlog-witness describes it, over HTTP. */
export async function startWitness(name: string): Promise<TestWitness> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = ed25519RawFromSpki(publicKey.export({ type: 'spki', format: 'der' }));
  const latest = new Map<string, Checkpoint>();
  let known: (origin: string) => Uint8Array | null = () => null;

  const cosign = (text: string): string => {
    const time = Math.floor(Date.now() / 1000);
    const signature = sign(null, cosignatureMessage(text, time), privateKey);
    return noteWith(text, [cosignatureLine({ name, keyId: witnessKeyId({ name, key }), time, signature })]).slice(text.length + 1);
  };
  const answer: WitnessManner = (body, reply) => {
    const { old, proof, text, checkpoint, signatures } = parseSubmission(body);
    const logKey = known(checkpoint.origin);
    if (logKey === null) return void reply.writeHead(404).end();
    if (!signatures.some((signature) => isSignedBy(logKey, { name: checkpoint.origin, text, signature }))) return void reply.writeHead(403).end();
    if (old > checkpoint.size) return void reply.writeHead(400).end();
    const before = latest.get(checkpoint.origin) ?? { origin: checkpoint.origin, size: 0, root: emptyRoot };
    if (old !== before.size) return void reply.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${before.size}\n`);
    if (!isConsistent(before, checkpoint, proof)) return void reply.writeHead(422).end();
    latest.set(checkpoint.origin, checkpoint);
    reply.writeHead(200).end(cosign(text));
  };
  let manner = answer;
  let asked = 0;
  const server = createServer((request, reply) => {
    asked++;
    if (request.method !== 'POST' || request.url !== '/w/add-checkpoint') return void reply.writeHead(405).end();
    readText(request).then((body) => manner(body, reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    key,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/w`,
    trust: (next) => {
      known = next;
    },
    seen: (origin) => latest.get(origin),
    remember: (checkpoint) => void latest.set(checkpoint.origin, checkpoint),
    behave: (next) => {
      manner = next;
    },
    cosign,
    answer,
    asked: () => asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parseSubmission(body: string) {
  const end = body.indexOf('\n\n');
  const [first = '', ...hashes] = body.slice(0, end).split('\n');
  const { text, signatures } = parseNote(body.slice(end + 2));
  return { old: Number(first.replace(/^old /, '')), proof: hashes.map(fromBase64), text, signatures, checkpoint: parseCheckpoint(text) };
}

interface LogSignature {
  name: string;
  text: string;
  signature: { name: string; keyId: Uint8Array; signature: Uint8Array };
}

function isSignedBy(raw: Uint8Array, { name, text, signature }: LogSignature): boolean {
  const key = createPublicKey({ key: Buffer.from(spkiFromEd25519Raw(raw)), format: 'der', type: 'spki' });
  return signature.name === name && equalBytes(signature.keyId, noteKeyIdEd25519(name, raw)) && verify(null, Buffer.from(text), key, signature.signature);
}

function isConsistent(before: Checkpoint, after: Checkpoint, proof: Uint8Array[]): boolean {
  if (before.size === 0) return proof.length === 0;
  if (before.size === after.size) return proof.length === 0 && equalBytes(before.root, after.root);
  return verifyConsistency({ oldSize: before.size, oldRoot: before.root, size: after.size, root: after.root, proof });
}
