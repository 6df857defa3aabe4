import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromUtf8, toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import { FormatError } from '../bytes/errors.ts';
import { canonicalJson } from '../json/jcs.ts';
import { leafEntry, promiseBytes } from '../log/rekor.ts';
import { sampleEvidence } from '../testing/sample-evidence.ts';
import { bundleJson, parseBundle } from './bundle.ts';
import { type Envelope, envelopeOf, preAuthEncoding } from './dsse.ts';
import { parseStatement, predicateOf, statementBytes } from './statement.ts';

const H = (digit: string): string => digit.repeat(64);
const hashes = { 'tagmanifest-sha256.txt': H('1'), 'manifest-sha256.txt': H('2'), 'data/evidence.json': H('3') };
const payload = statementBytes(hashes, predicateOf(sampleEvidence));
const envelope: Envelope = envelopeOf(payload, { keyId: 'SHA256:abc', signature: Uint8Array.of(1, 2, 3) });
const bundle = bundleJson({
  envelope,
  timestamps: [Uint8Array.of(9)],
  log: {
    index: 4,
    logId: new Uint8Array(32),
    integratedTime: 1_700_000_000,
    promise: Uint8Array.of(7),
    root: new Uint8Array(32),
    size: 5,
    hashes: [new Uint8Array(32)],
    checkpoint: 'a\n5\n\n— a b\n',
    entry: leafEntry(envelope, 'PEM'),
  },
});

test('matches the pre-authentication encoding of the DSSE specification', () => {
  expect(fromUtf8(preAuthEncoding('http://example.com/HelloWorld', utf8('hello world')))).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  expect(fromUtf8(preAuthEncoding('é', utf8('ü')))).toBe('DSSEv1 2 é 2 ü');
});

describe('statement', () => {
  test('is canonical and lists its subjects in order, with the report only if there is one', () => {
    const text = fromUtf8(payload);
    expect(text.startsWith('{"_type":"https://in-toto.io/Statement/v1","predicate":{"completeness":"B",')).toBe(true);
    expect(parseStatement(payload).subject.map(({ name }) => name)).toEqual(['tagmanifest-sha256.txt', 'manifest-sha256.txt', 'data/evidence.json']);
    const withReport = parseStatement(statementBytes({ ...hashes, 'data/report.pdf': H('4') }, predicateOf(sampleEvidence)));
    expect(withReport.subject.at(-1)).toEqual({ name: 'data/report.pdf', digest: { sha256: H('4') } });
    expect(withReport.predicate).toEqual(predicateOf(sampleEvidence));
  });

  test('is refused in any other form', () => {
    const text = fromUtf8(payload);
    const wrong = [
      `${text}\n`,
      ` ${text}`,
      text.replace('Statement/v1', 'Statement/v2'),
      text.replace('"sequence":2', '"sequence":"2"'),
      text.replace('"sequence":2,', ''),
      text.replace('"sequence":2', '"sequence":2,"z":1'),
    ];
    for (const changed of wrong) {
      expect(changed).not.toBe(text);
      expect(() => parseStatement(utf8(changed)), changed).toThrow(FormatError);
    }
  });
});

describe('log entry', () => {
  test('is a Rekor dsse entry with the hashes of the envelope and the payload', () => {
    expect(JSON.parse(leafEntry(envelope, 'PEM'))).toEqual({
      apiVersion: '0.0.1',
      kind: 'dsse',
      spec: {
        envelopeHash: { algorithm: 'sha256', value: hash('sha256', canonicalJson(envelope)) },
        payloadHash: { algorithm: 'sha256', value: hash('sha256', payload) },
        signatures: [{ signature: 'AQID', verifier: toBase64(utf8('PEM')) }],
      },
    });
    expect(leafEntry(envelope, 'PEM')).toBe(canonicalJson(JSON.parse(leafEntry(envelope, 'PEM'))));
  });

  test('is promised in a text of four members, with the ID in hexadecimal and numbers as numbers', () => {
    const text = fromUtf8(promiseBytes({ body: 'AA==', integratedTime: 12, logId: toHex(Uint8Array.of(0xab)), logIndex: 3 }));
    expect(text).toBe('{"body":"AA==","integratedTime":12,"logID":"ab","logIndex":3}');
  });
});

describe('bundle', () => {
  test('round-trips with 64-bit numbers as strings', () => {
    const parsed = parseBundle(bundle);
    expect(parsed.dsseEnvelope).toEqual(envelope);
    expect(parsed.verificationMaterial.publicKey.hint).toBe('SHA256:abc');
    expect(parsed.verificationMaterial.tlogEntries[0]).toMatchObject({
      logIndex: '4',
      integratedTime: '1700000000',
      inclusionProof: { treeSize: '5', logIndex: '4' },
    });
    expect(`${canonicalJson(parsed)}\n`).toBe(bundle);
  });

  test('is refused after an edit, unless the edited text is canonical too', () => {
    fc.assert(
      fc.property(fc.nat(bundle.length), fc.nat(2), fc.constantFrom('', ' ', '1', '"', '=', 'B', ',', '\n'), (at, remove, insert) => {
        const text = bundle.slice(0, at) + insert + bundle.slice(at + remove);
        let read: unknown;
        try {
          read = parseBundle(text);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
          return;
        }
        expect(`${canonicalJson(read)}\n`).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['a second signature', (value: string) => value.replace('"signatures":[{', '"signatures":[{"keyid":"a","sig":"AQID"},{')],
    ['no signature', (value: string) => value.replace(/"signatures":\[[^\]]*\]/, '"signatures":[]')],
    ['another payload type', (value: string) => value.replace('vnd.in-toto+json', 'json')],
    ['another media type', (value: string) => value.replace('v0.3+json', 'v0.2+json')],
    ['an unknown field', (value: string) => value.replace('"publicKey"', '"certificate":{},"publicKey"')],
    ['a missing promise', (value: string) => value.replace(/"inclusionPromise":\{[^}]*\},/, '')],
    ['a number instead of a string', (value: string) => value.replace('"treeSize":"5"', '"treeSize":5')],
    ['base64 with nonzero trailing bits', (value: string) => value.replace('"signedEntryTimestamp":"Bw=="', '"signedEntryTimestamp":"Bx=="')],
    ['a duplicate key', (value: string) => value.replace('{"dsseEnvelope"', '{"mediaType":"x","dsseEnvelope"')],
    ['white space', (value: string) => value.replace('{', '{ ')],
    ['no line feed', (value: string) => value.trimEnd()],
  ])('refuses %s', (_, change) => {
    expect(change(bundle)).not.toBe(bundle);
    expect(() => parseBundle(change(bundle))).toThrow(FormatError);
  });
});
