import { describe, expect, test } from 'vitest';
import { type CertificateFacts, certificate, extension } from '../testing/authority.ts';
import { p256Key } from '../testing/signer.ts';
import { chainsToTrusted, TIME_STAMPING } from './chain.ts';
import { type Certificate, parseCertificate } from './x509.ts';

const { subtle } = globalThis.crypto;
const at = new Date('2026-03-04T05:06:07Z');
const CA = [extension.constraints({ ca: true }), extension.usage(0x04)];
const keyOf = (name: string) => p256Key(`chain ${name}`);

async function makeCertificate(subject: string, issuer: string, changed: Partial<CertificateFacts> = {}): Promise<Certificate> {
  const facts = { subject, issuer, key: keyOf(subject), signer: keyOf(issuer), serial: 5n, until: '2030-01-01', extensions: CA, ...changed };
  return parseCertificate(await certificate(facts));
}

const root = await makeCertificate('root', 'root');
const leaf = await makeCertificate('leaf', 'intermediate', { extensions: [extension.purpose(TIME_STAMPING)] });

const leads = (others: Certificate[], trusted = [root], start = leaf) => chainsToTrusted(subtle, { leaf: start, others, trusted, at });

describe('a chain of certificates', () => {
  test('is trusted through an intermediate, or if any of its certificates is trusted', async () => {
    const intermediate = await makeCertificate('intermediate', 'root');
    expect(await leads([intermediate])).toBe(true);
    expect(await leads([], [intermediate])).toBe(true);
    expect(await leads([], [leaf])).toBe(true);
    expect(await leads([])).toBe(false);
    expect(await leads([intermediate], [])).toBe(false);
  });

  const wrong: Record<string, Partial<CertificateFacts>> = {
    'is not a certificate authority': { extensions: [extension.constraints({ ca: false }), extension.usage(0x04)] },
    'has no basic constraints': { extensions: [] },
    'may not sign certificates': { extensions: [extension.constraints({ ca: true }), extension.usage(0x80)] },
    'is restricted to another purpose': { extensions: [...CA, extension.purpose('1.3.6.1.5.5.7.3.1')] },
    'has an unknown critical extension': { extensions: [...CA, extension.unknown()] },
    'has expired': { until: '2026-01-01' },
    'was signed with another key': { signer: keyOf('stranger') },
    'does not have the key that signed the leaf': { key: keyOf('stranger') },
  };
  test.for(Object.entries(wrong))('is not trusted if the intermediate %s', async ([, changed]) => {
    expect(await leads([await makeCertificate('intermediate', 'root', changed)])).toBe(false);
  });

  test('is not trusted if it is longer than the path length constraint allows', async () => {
    const short = [extension.constraints({ ca: true, pathLength: 0 }), extension.usage(0x04)];
    const [upper, intermediate] = [await makeCertificate('upper', 'root', { extensions: short }), await makeCertificate('intermediate', 'upper')];
    expect(await leads([intermediate, upper])).toBe(false);
    expect(await leads([intermediate, await makeCertificate('upper', 'root')])).toBe(true);
  });

  test('is not trusted if the root has expired', async () => {
    expect(await leads([await makeCertificate('intermediate', 'root')], [await makeCertificate('root', 'root', { until: '2026-01-01' })])).toBe(false);
  });

  test('is not followed forever if it is circular', async () => {
    const circle = await Promise.all(Array.from({ length: 30 }, (_, index) => makeCertificate('intermediate', 'intermediate', { serial: BigInt(index) })));
    expect(await leads(circle)).toBe(false);
  });
});

describe('a certificate', () => {
  test('is refused with a duplicate extension, missing bytes or extra bytes', async () => {
    await expect(makeCertificate('a', 'root', { extensions: [...CA, ...CA] })).rejects.toThrow('duplicate');
    expect(() => parseCertificate(root.der.subarray(0, -1))).toThrow();
    expect(() => parseCertificate(Buffer.concat([root.der, Buffer.from([0])]))).toThrow();
  });
});
