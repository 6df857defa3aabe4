import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bagInfoText, bagitText, manifestText } from '../archive/bag.ts';
import { topFolder } from '../archive/names.ts';
import { writeZip } from '../archive/zip.ts';
import { toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import { sha256, sha256Hex } from '../bytes/sha256.ts';
import { chainLine, TRAIL_START } from '../document/audit-trail.ts';
import type { EvidenceDocument } from '../document/evidence.ts';
import { canonicalJson } from '../json/jcs.ts';
import { consistencyText, leavesBytes } from '../log/consistency.ts';
import { leafHash, rootFromLeaves } from '../log/merkle.ts';
import { checkpointText, noteWith, rekorOrigin } from '../log/note.ts';
import { leafEntry, promiseBytes } from '../log/rekor.ts';
import { epochStatement } from '../log/statements.ts';
import { tlogProofText } from '../log/tlog-proof.ts';
import { readmeText } from '../render/v2/readme.ts';
import { schemaFiles } from '../schema/schema.ts';
import { bundleJson } from '../signing/bundle.ts';
import { envelopeOf, PAYLOAD_TYPE, preAuthEncoding } from '../signing/dsse.ts';
import { ed25519RawFromSpki, logId, noteKeyIdEcdsa, noteKeyIdEd25519, opensshFingerprint, pemFromSpki, vkey } from '../signing/keys.ts';
import { predicateOf, statementBytes } from '../signing/statement.ts';
import { timestampRequest } from '../signing/timestamp.ts';
import { sampleEvidence } from './sample-evidence.ts';

const ORIGIN = 'rrs.example/orgs/0190a8f0-0000-7000-8000-000000000004';
const spkiOf = (key: KeyObject): Uint8Array => key.export({ type: 'spki', format: 'der' });

/** Writes a small sealed package to `<folder>/<name>.zip` and the trusted keys of an auditor to `<folder>/T`. Returns the name. */
export async function sealPackage(folder: string, stamped: boolean): Promise<string> {
  const keys = {
    package: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    log: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    note: generateKeyPairSync('ed25519'),
  };
  const spki = { package: spkiOf(keys.package.publicKey), log: spkiOf(keys.log.publicKey), note: spkiOf(keys.note.publicKey) };
  const noteKey = ed25519RawFromSpki(spki.note);
  const line = vkey(ORIGIN, noteKey);
  const trail = chainLine({ action: 'work_item.closed' }, 1, TRAIL_START);
  const { findings, ...document } = sampleEvidence;
  const evidence: EvidenceDocument = {
    ...document,
    log: { ...document.log, origin: ORIGIN },
    timestamped: stamped,
    audit_trail: { file: 'data/audit-trail.jsonl', events: 1, head: trail.hash },
  };
  const name = topFolder(evidence.work_item.id, evidence.sequence);

  const files = new Map<string, Uint8Array>();
  const add = (path: string, content: string | Uint8Array): unknown => files.set(path, typeof content === 'string' ? utf8(content) : content);
  const hashesOf = (paths: Iterable<string>): { path: string; sha256: string }[] =>
    [...paths].map((path) => ({ path, sha256: sha256Hex(files.get(path) as Uint8Array) }));

  add('data/evidence.json', `${canonicalJson(evidence)}\n`);
  add('data/report.pdf', '%PDF-1.7');
  add('data/audit-trail.jsonl', `${trail.line}\n`);
  add('data/findings.jsonl', findings.map((finding) => `${canonicalJson(finding)}\n`).join(''));
  for (const { path, text } of schemaFiles) add(path, text);
  const payload = [...files.values()].reduce((bytes, { length }) => bytes + length, 0);
  const info = { softwareAgent: 'rrs', date: '2026-11-15', packageId: evidence.package_id, workItemId: evidence.work_item.id, organization: 'Acme' };
  const manifest = manifestText(hashesOf(files.keys()));
  add('bag-info.txt', bagInfoText({ ...info, payload: { bytes: payload, files: files.size } }));
  add('manifest-sha256.txt', manifest);
  add('bagit.txt', bagitText);
  add('README.txt', readmeText(evidence, { keys: { package: opensshFingerprint(spki.package), log: opensshFingerprint(spki.log), note: line } }));
  add('tagmanifest-sha256.txt', manifestText(hashesOf(['README.txt', 'bag-info.txt', 'bagit.txt', 'manifest-sha256.txt'])));

  const subjects = Object.fromEntries(
    hashesOf(['tagmanifest-sha256.txt', 'manifest-sha256.txt', 'data/evidence.json', 'data/report.pdf']).map(({ path, sha256: digest }) => [path, digest]),
  );
  const statement = statementBytes(subjects as Parameters<typeof statementBytes>[0], predicateOf(evidence));
  const signature = sign('sha256', preAuthEncoding(PAYLOAD_TYPE, statement), keys.package.privateKey);
  const envelope = envelopeOf(statement, { keyId: opensshFingerprint(spki.package), signature });
  const entry = leafEntry(envelope, pemFromSpki(spki.package));
  const first = epochStatement({
    organization_id: evidence.organization.id,
    epoch: 1,
    origin: ORIGIN,
    previous: null,
    lost: null,
    reason: 'created',
    backup: null,
    at: evidence.work_item.created_at,
  });
  const firstSignature = sign('sha256', preAuthEncoding(PAYLOAD_TYPE, first), keys.package.privateKey);
  const firstEnvelope = envelopeOf(first, { keyId: opensshFingerprint(spki.package), signature: firstSignature });
  const firstEntry = leafEntry(firstEnvelope, pemFromSpki(spki.package));
  const leaves = [firstEntry, entry].map((text) => leafHash(utf8(text))) as [Uint8Array, Uint8Array];
  const root = rootFromLeaves(leaves);
  const promiseOf = (body: string, logIndex: number) =>
    sign('sha256', promiseBytes({ body: toBase64(utf8(body)), integratedTime: 1_794_000_000, logId: toHex(logId(spki.log)), logIndex }), keys.log.privateKey);
  const [forCosign, forNotes] = [rekorOrigin(ORIGIN), ORIGIN].map((origin) => checkpointText({ origin, size: 2, root })) as [string, string];
  const ecdsa = { name: ORIGIN, keyId: noteKeyIdEcdsa(spki.log), signature: sign('sha256', utf8(forCosign), keys.log.privateKey) };
  const ed25519 = { name: ORIGIN, keyId: noteKeyIdEd25519(ORIGIN, noteKey), signature: sign(null, utf8(forNotes), keys.note.privateKey) };
  const timestamps = stamped ? [stampWithOpenssl(folder, signature)] : [];
  const tree = { logId: logId(spki.log), integratedTime: 1_794_000_000, root, size: 2, checkpoint: noteWith(forCosign, [ecdsa]) };
  const log = { ...tree, index: 1, promise: promiseOf(entry, 1), hashes: [leaves[0]], entry };
  const firstLog = { ...tree, index: 0, promise: promiseOf(firstEntry, 0), hashes: [leaves[1]], entry: firstEntry };

  add('proof/package.sigstore.json', bundleJson({ envelope, timestamps, log }));
  add('proof/statement.json', statement);
  add('proof/package.tlog-proof', tlogProofText({ index: 1, hashes: [leaves[0]], checkpoint: noteWith(forNotes, [ed25519]) }));
  add('proof/epoch.sigstore.json', bundleJson({ envelope: firstEnvelope, timestamps: [], log: firstLog }));
  add('proof/leaves.bin', leavesBytes(leaves));
  add('proof/consistency.txt', consistencyText({ oldSize: 0 }));
  add('proof/keys/package.pem', pemFromSpki(spki.package));
  add('proof/keys/log.pem', pemFromSpki(spki.log));
  add('proof/keys/log-note.pem', pemFromSpki(spki.note));
  add('proof/keys/log-note.vkey', `${line}\n`);
  for (const token of timestamps) add('proof/timestamp.tsr', token);

  mkdirSync(join(folder, 'T'), { recursive: true });
  writeFileSync(join(folder, 'T/package.pem'), pemFromSpki(spki.package), { mode: 0o600 });
  writeFileSync(join(folder, 'T/log.pem'), pemFromSpki(spki.log), { mode: 0o600 });
  const entries = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, content]) => ({ name: `${name}/${path}`, content }));
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries)) chunks.push(chunk);
  writeFileSync(join(folder, `${name}.zip`), Buffer.concat(chunks));
  return name;
}

const TSA = `[req]
distinguished_name = name
x509_extensions = tsa
prompt = no
[name]
CN = Test TSA
[tsa]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[stamp]
serial = ./serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
accuracy = secs:1
ordering = yes
tsa_name = yes
`;

/** Returns openssl's response to our timestamp request and writes the authority's certificate to `T/tsa-root.pem`. */
export function stampWithOpenssl(
  folder: string,
  message: Uint8Array,
  { kind = 'ec:P-256', nonce = 1n }: { kind?: 'ec:P-256' | 'rsa:3072'; nonce?: bigint } = {},
): Uint8Array {
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = kind === 'rsa:3072' ? ['rsa:3072'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  mkdirSync(join(folder, 'T'), { recursive: true });
  writeFileSync(join(folder, 'tsa.cnf'), TSA);
  writeFileSync(join(folder, 'serial'), '0A1B\n');
  writeFileSync(join(folder, 'request.tsq'), timestampRequest(sha256(message), nonce));
  openssl('req', '-x509', '-newkey', ...newKey, '-nodes', '-keyout', 'tsa.key', '-out', 'T/tsa-root.pem', '-days', '2', '-config', 'tsa.cnf');
  openssl(
    'ts',
    '-reply',
    '-config',
    'tsa.cnf',
    '-section',
    'stamp',
    '-queryfile',
    'request.tsq',
    '-signer',
    'T/tsa-root.pem',
    '-inkey',
    'tsa.key',
    '-out',
    'response.tsr',
  );
  return readFileSync(join(folder, 'response.tsr'));
}
