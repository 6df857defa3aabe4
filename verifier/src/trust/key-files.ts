import { parseStrictJson } from '@rrs/evidence-format';
import { keyKind, pemBlocks, type Trust } from './trust.ts';

/** A piece of trust, and what it is trusted for. */
export interface KeyFile {
  use: 'package' | 'log' | 'note' | 'tsa' | 'checkpoint';
  text: string;
  /** Where it came from, for messages. */
  origin: string;
  /** When the key was in use, where a published list says it. */
  period?: { from: string | null; to: string | null };
}

/** What a file with trusted things holds: the published list of keys, a key, certificates, or a checkpoint. Empty for anything else. */
export function keyFilesIn(origin: string, text: string): KeyFile[] {
  if (text.trimStart().startsWith('{')) return publishedKeys(origin, text);
  const use = useOf(origin, text);
  return use === null ? [] : [{ use, text, origin }];
}

/** Keys for packages and for the log are of one kind; that of the log has a name that says so. */
function useOf(origin: string, text: string): KeyFile['use'] | null {
  if (text.includes('-----BEGIN CERTIFICATE-----')) return 'tsa';
  if (isVkey(text.trim())) return 'note';
  if (/^[^\n]+\n\d+\n[A-Za-z0-9+/=]+\n\n\u2014 /.test(text)) return 'checkpoint';
  const kind = keyKind(text);
  if (kind === 'p256') return /(?:^|[/\\])log[^/\\]*$/.test(origin) ? 'log' : 'package';
  return kind === 'ed25519' ? 'note' : null;
}

export function isVkey(text: string): boolean {
  return /^[^+\s]+\+[0-9a-f]{8}\+\S+$/.test(text);
}

function publishedKeys(origin: string, text: string): KeyFile[] {
  const content = parseStrictJson(text);
  const keys = isRecord(content) ? content.keys : null;
  if (!Array.isArray(keys)) throw new Error(`${origin} is not a list of keys: {"keys":[…]}`);
  return keys.flatMap((key: unknown): KeyFile[] => {
    if (!isRecord(key) || typeof key.public_key_pem !== 'string') throw new Error(`${origin} has a key without public_key_pem`);
    const pem = key.public_key_pem;
    if (key.use === 'package') return [{ use: 'package', text: pem, origin, period: { from: timeIn(key.valid_from), to: timeIn(key.valid_to) } }];
    return key.use === 'log' ? [{ use: keyKind(pem) === 'ed25519' ? 'note' : 'log', text: pem, origin }] : [];
  });
}

function timeIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Adds them to what is trusted, and refuses those that cannot serve for what they were given. */
export function addKeys(trust: Trust, files: KeyFile[]): void {
  for (const file of files) {
    listFor(trust, file).push(...valuesOf(file));
    if (file.period) trust.periods.push({ key: file.text, ...file.period });
  }
}

function listFor(trust: Trust, { use }: KeyFile): string[] {
  return { package: trust.packageKeys, log: trust.logKeys, note: trust.noteKeys, tsa: trust.timestampRoots, checkpoint: trust.checkpoints }[use];
}

function valuesOf({ use, text, origin }: KeyFile): string[] {
  if (use === 'checkpoint') return [text];
  if (use === 'tsa') {
    const certificates = pemBlocks(text, 'CERTIFICATE');
    if (certificates.length === 0) throw new Error(`${origin} holds no certificate`);
    return certificates;
  }
  if (use === 'note' && isVkey(text.trim())) return [text.trim()];
  const [kind, wanted] = use === 'note' ? ['ed25519', 'Ed25519'] : ['p256', 'P-256'];
  if (keyKind(text) !== kind) throw new Error(`${origin} is not a public key of the kind that is wanted here (${wanted}, PEM)`);
  return [text];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
