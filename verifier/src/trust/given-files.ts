import { parseWitnessVkey } from '@rrs/evidence-format';
import { addKeys, isVkey, keyFilesIn } from './key-files.ts';
import type { Trust } from './trust.ts';

/**
 * Adds a file to `trust` for what its content is: a published list of keys, a key, certificates, a checkpoint, the key of a witness, a consistency proof or
 * a status statement. People give all of them together. Throws if it is none of them.
 */
export function addGivenFile(trust: Trust, name: string, text: string): void {
  const fields = fieldsOf(text);
  if (fields.has('payloadType')) {
    if (trust.status !== undefined) throw new Error(`${name} is a second status statement. Give only one.`);
    trust.status = text;
  } else if (fields.has('from_root_hash')) {
    trust.consistencies = [...(trust.consistencies ?? []), text];
  } else if (isWitness(text)) {
    trust.witnessKeys = [...(trust.witnessKeys ?? []), text];
  } else {
    const keys = keyFilesIn(name, text);
    if (keys.length === 0) throw new Error(`${name} contains no key, certificate, checkpoint, consistency proof or status statement.`);
    addKeys(trust, keys);
  }
}

function fieldsOf(text: string): ReadonlySet<string> {
  if (!text.trimStart().startsWith('{')) return new Set();
  try {
    return new Set(Object.keys(JSON.parse(text) as object));
  } catch {
    return new Set();
  }
}

/** Keys of logs and keys of witnesses are written in the same way. Their type tells them apart. */
function isWitness(text: string): boolean {
  if (!isVkey(text.trim())) return false;
  try {
    parseWitnessVkey(text.trim());
    return true;
  } catch {
    return false;
  }
}
