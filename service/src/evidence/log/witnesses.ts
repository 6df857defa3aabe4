import { createPublicKey, verify } from 'node:crypto';
import {
  cosignatureMessage,
  equalBytes,
  noteWith,
  parseCosignature,
  parseNote,
  spkiFromEd25519Raw,
  toBase64,
  type WitnessKey,
  witnessKeyId,
} from '@rrs/evidence-format';
import { messageOf } from '../../shared/errors.ts';

/** An independent service that confirms that the log only grows (C2SP tlog-witness). */
export interface Witness extends WitnessKey {
  /** The submission prefix. */
  url: string;
}

/** A checkpoint for a witness. */
export interface Submission {
  note: string;
  size: number;
  /** Size that the witness confirmed last, as far as the database knows. */
  old: number;
  /** Consistency proof from an earlier size. */
  prove(from: number): Promise<readonly Uint8Array[]>;
  /** Number of entries in the database now. */
  logSize(): Promise<number>;
}

export type WitnessAnswer =
  /** `line` is the signature line for the note. */
  | { witness: string; outcome: 'cosigned'; line: string; at: Date }
  /** The witness saw a larger log, or another tree: the database was rewound. */
  | { witness: string; outcome: 'contradicted'; size: number | null }
  | { witness: string; outcome: 'missing'; problem: string };

const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Never throws: a witness that is out of order must not keep a package from being sealed. */
export async function submitTo(witness: Witness, submission: Submission, timeoutMs = TIMEOUT_MS): Promise<WitnessAnswer> {
  const name = { witness: witness.name };
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    let answer = await send(witness, submission, signal);
    if (answer.status === 409) {
      const size = sizeIn(answer.body);
      if (size > (await submission.logSize())) return { ...name, outcome: 'contradicted', size };
      if (size > submission.size) throw new Error(`it has confirmed ${size} entries already`);
      answer = await send(witness, { ...submission, old: size }, signal);
    }
    if (answer.status === 422) return { ...name, outcome: 'contradicted', size: null };
    if (answer.status !== 200) throw new Error(`HTTP status ${answer.status}`);
    return { ...name, outcome: 'cosigned', ...cosignatureIn(answer.body, witness, submission.note) };
  } catch (error) {
    return { ...name, outcome: 'missing', problem: messageOf(error) };
  }
}

async function send({ url }: Witness, { note, old, prove }: Submission, signal: AbortSignal): Promise<{ status: number; body: string }> {
  const hashes = old === 0 ? [] : await prove(old);
  const response = await fetch(`${url}/add-checkpoint`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: [`old ${old}`, ...hashes.map(toBase64), '', note].join('\n'),
    redirect: 'error',
    signal,
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: response.status, body: Buffer.concat(chunks).toString('utf8') };
}

function sizeIn(body: string): number {
  if (!/^(?:0|[1-9]\d{0,14})\n$/.test(body)) throw new Error('the response to a conflict is not a size');
  return Number(body);
}

/** Signatures of other keys are ignored, as the specification requires. */
function cosignatureIn(lines: string, witness: Witness, note: string): { line: string; at: Date } {
  const { text } = parseNote(note);
  const keyId = witnessKeyId(witness);
  const own = parseNote(`${text}\n${lines}`).signatures.find((signature) => signature.name === witness.name && equalBytes(signature.keyId, keyId));
  if (!own) throw new Error('the response has no cosignature of the configured key');
  const { time, signature } = parseCosignature(own);
  const key = createPublicKey({ key: Buffer.from(spkiFromEd25519Raw(witness.key)), format: 'der', type: 'spki' });
  if (!verify(null, cosignatureMessage(text, time), key, signature)) throw new Error('the cosignature is not valid for the checkpoint');
  return { line: noteWith(text, [own]).slice(text.length + 1), at: new Date(time * 1000) };
}
