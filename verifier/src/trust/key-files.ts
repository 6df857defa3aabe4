import { KEY_LIST_VERSION, parseKeyList } from '@rrs/evidence-format';
import { keyKind, type Period, pemBlocks, type Trust } from './trust.ts';

/** A trusted key, certificate or checkpoint and what it is trusted for. */
export interface KeyFile {
  use: 'package' | 'log' | 'note' | 'tsa' | 'checkpoint';
  text: string;
  /** File name or value, for error messages. */
  origin: string;
  /** Period of use from the published list of keys. */
  period?: Omit<Period, 'key'>;
  /** Logs that the published list names. */
  origins?: string[];
}

/** Reads a published list of keys, a key, certificates or a checkpoint. Returns an empty list for any other content. */
export function keyFilesIn(origin: string, text: string): KeyFile[] {
  if (text.trimStart().startsWith('{')) return publishedKeys(origin, text);
  const use = useOf(origin, text);
  return use === null ? [] : [{ use, text, origin }];
}

/** Package keys and log keys are both P-256. The file name tells them apart. */
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
  try {
    const { keys, origins } = parseKeyList(text);
    return keys.map(({ use, public_key_pem, valid_from, valid_to, revoked_at }) => ({
      use,
      text: public_key_pem,
      origin,
      period: { from: valid_from, to: valid_to, revoked: revoked_at },
      origins,
    }));
  } catch (error) {
    throw new Error(`${origin} is not a list of keys in version ${KEY_LIST_VERSION}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Adds the keys to `trust`. Throws if a key is not of the kind that its use requires. */
export function addKeys(trust: Trust, files: KeyFile[]): void {
  for (const file of files) {
    listFor(trust, file).push(...valuesOf(file));
    if (file.period) trust.periods.push({ key: file.text, ...file.period });
    for (const name of file.origins ?? []) if (!trust.origins.includes(name)) trust.origins.push(name);
  }
}

function listFor(trust: Trust, { use }: KeyFile): string[] {
  return { package: trust.packageKeys, log: trust.logKeys, note: trust.noteKeys, tsa: trust.timestampRoots, checkpoint: trust.checkpoints }[use];
}

function valuesOf({ use, text, origin }: KeyFile): string[] {
  if (use === 'checkpoint') return [text];
  if (use === 'tsa') {
    const certificates = pemBlocks(text, 'CERTIFICATE');
    if (certificates.length === 0) throw new Error(`${origin} contains no certificate`);
    return certificates;
  }
  if (use === 'note' && isVkey(text.trim())) return [text.trim()];
  const [kind, required] = use === 'note' ? ['ed25519', 'Ed25519'] : ['p256', 'P-256'];
  if (keyKind(text) !== kind) throw new Error(`${origin} is not a public key of the required kind (${required}, PEM)`);
  return [text];
}
