import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, hash, verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { equalBytes, toHex, utf8 } from '../bytes/bytes.ts';
import { childrenOf, readDer, readOid, TAG } from '../bytes/der.ts';
import { FormatError } from '../bytes/errors.ts';
import { stampWithOpenssl } from '../testing/sealed-package.ts';
import { parseTimestampResponse, timestampRequest } from './timestamp.ts';

const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;
const MESSAGE = utf8('the raw bytes of a signature');
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';

describe.runIf(hasOpenssl).each(['ec:P-256', 'rsa:3072'] as const)('with openssl as the authority (%s)', (kind) => {
  const nonce = 0x80ff_0123_4567_89abn;
  let folder: string;
  let response: Uint8Array;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsa-'));
    response = stampWithOpenssl(folder, MESSAGE, { kind, nonce });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const openssl = (...args: string[]): string => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }).toString();

  test('openssl reads the request correctly', () => {
    const text = openssl('ts', '-query', '-in', 'request.tsq', '-text');
    expect(text).toContain('Hash Algorithm: sha256');
    expect(text).toContain('Certificate required: yes');
    expect(text).toMatch(/Nonce: 0x80FF0123456789AB/);
  });

  test('openssl accepts the response for the message', () => {
    writeFileSync(join(folder, 'message'), MESSAGE);
    expect(openssl('ts', '-verify', '-data', 'message', '-in', 'response.tsr', '-CAfile', 'T/tsa-root.pem')).toContain('Verification: OK');
  });

  test('reads the fields of the response', () => {
    const { status, token } = parseTimestampResponse(response);
    expect(status).toBe(0);
    expect(token?.tstInfo).toMatchObject({ policy: '1.2.3.4.1', serial: 0x0a1cn, nonce, imprint: { algorithm: '2.16.840.1.101.3.4.2.1' } });
    expect(toHex(token?.tstInfo.imprint.hash ?? new Uint8Array())).toBe(hash('sha256', MESSAGE));
    expect(Math.abs((token?.tstInfo.genTime.getTime() ?? 0) - Date.now())).toBeLessThan(600_000);
    expect(token?.certificates).toHaveLength(1);
    expect(new X509Certificate(token?.certificates[0] ?? '').subject).toBe('CN=Test TSA');
  });

  test('the fields are sufficient to verify the signature', () => {
    const { token } = parseTimestampResponse(response);
    if (token === null) throw new Error('no token');
    const certificate = token.certificates[0] as Uint8Array;
    const digest = createHash('sha256').update(token.content).digest();
    expect(token.digestAlgorithm).toBe('2.16.840.1.101.3.4.2.1');
    expect(readOid(token.attributes.get(CONTENT_TYPE) ?? expect.fail())).toBe('1.2.840.113549.1.9.16.1.4');
    expect(equalBytes(token.attributes.get(MESSAGE_DIGEST)?.content ?? new Uint8Array(), digest)).toBe(true);
    expect(verify('sha256', token.signedAttributes, new X509Certificate(certificate).publicKey, token.signature)).toBe(true);
    const [ids] = childrenOf(token.attributes.get(SIGNING_CERTIFICATE_V2) ?? expect.fail());
    const [first] = childrenOf(ids ?? expect.fail());
    expect(childrenOf(first ?? expect.fail()).some(({ tag, content }) => tag === TAG.octetString && toHex(content) === hash('sha256', certificate))).toBe(true);
  });

  test('a damaged response is parsed or causes a FormatError', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(255), fc.nat(3), (position, byte, cut) => {
        const damaged = Uint8Array.from(response);
        damaged[position % damaged.length] = byte;
        try {
          parseTimestampResponse(damaged.subarray(0, damaged.length - cut));
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('refuses extra or missing bytes at the end of the response', () => {
    expect(() => parseTimestampResponse(Buffer.concat([response, Uint8Array.of(0)]))).toThrow('extra bytes');
    expect(() => parseTimestampResponse(response.subarray(0, -1))).toThrow('truncated');
  });
});

test('a rejection has a status and no token', () => {
  const rejection = Uint8Array.of(0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02);
  expect(parseTimestampResponse(rejection)).toEqual({ status: 2, token: null });
  expect(() => parseTimestampResponse(Uint8Array.of(0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x00))).toThrow('disagree');
});

test('a request with a nonce of eight bytes is 69 bytes of valid DER', () => {
  const request = timestampRequest(new Uint8Array(32), 0x7fff_ffff_ffff_ffffn);
  expect(request).toHaveLength(69);
  expect(childrenOf(readDer(request, TAG.sequence)).map(({ tag }) => tag)).toEqual([TAG.integer, TAG.sequence, TAG.integer, TAG.boolean]);
  expect(() => timestampRequest(new Uint8Array(20), 1n)).toThrow('SHA-256');
  expect(() => timestampRequest(new Uint8Array(32), -1n)).toThrow('negative');
});
