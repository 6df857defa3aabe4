import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TimestampAuthorities } from '../../evidence/packages/timestamps.ts';

const CONFIG = `
[settings]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
[req]
distinguished_name = nobody
[nobody]
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
[leaf]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
`;

/** Handles one timestamp request. */
export type Manner = (question: Buffer, reply: ServerResponse) => void;

export interface TestTimestampAuthority extends TimestampAuthorities {
  /** A file with the root certificate, for `openssl ts -verify -CAfile`. */
  rootFile: string;
  /** The number of requests so far. */
  asked(): number;
  behave(manner: Manner): void;
  /** The correct behaviour, and the default. */
  answer: Manner;
  openssl(...args: string[]): string;
  folder: string;
  close(): Promise<void>;
}

export function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).error === undefined;
}

/** Starts an RFC 3161 timestamp authority over HTTP that signs with openssl (P-256). */
export async function startTimestampAuthority(): Promise<TestTimestampAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-tsa-'));
  const openssl = (...args: string[]): string => execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  makeCertificates(folder, openssl);
  const answer: Manner = (question, reply) => {
    writeFileSync(join(folder, 'question.tsq'), question);
    const signer = ['-signer', 'leaf.pem', '-inkey', 'leaf.key'];
    openssl('ts', '-reply', '-config', 'tsa.cnf', '-section', 'settings', '-queryfile', 'question.tsq', ...signer, '-out', 'answer.tsr');
    reply.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(readFileSync(join(folder, 'answer.tsr')));
  };
  let manner = answer;
  let asked = 0;
  const server = createServer((request, reply) => {
    asked++;
    buffer(request).then((question) => manner(question, reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`],
    certificates: readFileSync(join(folder, 'root.pem'), 'utf8'),
    rootFile: join(folder, 'root.pem'),
    asked: () => asked,
    behave: (next) => {
      manner = next;
    },
    answer,
    openssl,
    folder,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(folder, { recursive: true });
    },
  };
}

function makeCertificates(folder: string, openssl: (...args: string[]) => string): void {
  writeFileSync(join(folder, 'tsa.cnf'), CONFIG);
  writeFileSync(join(folder, 'serial'), '01\n');
  const config = ['-config', 'tsa.cnf'];
  for (const name of ['root', 'leaf']) openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', `${name}.key`);
  openssl('req', '-x509', '-new', '-key', 'root.key', '-subj', '/CN=Root of time', '-days', '30', '-out', 'root.pem', ...config, '-extensions', 'root');
  openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=Authority of time', '-out', 'leaf.csr', ...config);
  const signer = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '20'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...signer, '-out', 'leaf.pem', '-extfile', 'tsa.cnf', '-extensions', 'leaf');
}
