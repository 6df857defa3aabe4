import { describe, expect, test } from 'vitest';
import { type CertificateFacts, certificate, extension } from '../testing/authority.ts';
import { p256Key } from '../testing/signer.ts';
import { leadsToTrusted, TIME_STAMPING } from './chain.ts';
import { type Certificate, parseCertificate } from './x509.ts';

const { subtle } = globalThis.crypto;
const at = new Date('2026-03-04T05:06:07Z');
const CA = [extension.constraints({ ca: true }), extension.usage(0x04)];
const keyOf = (name: string) => p256Key(`chain ${name}`);

async function made(subject: string, issuer: string, changed: Partial<CertificateFacts> = {}): Promise<Certificate> {
  const facts = { subject, issuer, key: keyOf(subject), signer: keyOf(issuer), serial: 5n, until: '2030-01-01', extensions: CA, ...changed };
  return parseCertificate(await certificate(facts));
}

const root = await made('root', 'root');
const leaf = await made('leaf', 'middle', { extensions: [extension.purpose(TIME_STAMPING)] });

const leads = (others: Certificate[], trusted = [root], start = leaf) => leadsToTrusted(subtle, { leaf: start, others, trusted, at });

describe('a chain', () => {
  test('over one in the middle, or to one that is trusted itself', async () => {
    const middle = await made('middle', 'root');
    expect(await leads([middle])).toBe(true);
    expect(await leads([], [middle])).toBe(true);
    expect(await leads([], [leaf])).toBe(true);
    expect(await leads([])).toBe(false);
    expect(await leads([middle], [])).toBe(false);
  });

  const wrong: Record<string, Partial<CertificateFacts>> = {
    'is no authority': { extensions: [extension.constraints({ ca: false }), extension.usage(0x04)] },
    'says nothing of being an authority': { extensions: [] },
    'may not sign certificates': { extensions: [extension.constraints({ ca: true }), extension.usage(0x80)] },
    'is an authority for something else': { extensions: [...CA, extension.purpose('1.3.6.1.5.5.7.3.1')] },
    'has an unknown critical extension': { extensions: [...CA, extension.unknown()] },
    'was expired': { until: '2026-01-01' },
    'was signed by somebody else': { signer: keyOf('stranger') },
    'has another key than the one that signed': { key: keyOf('stranger') },
  };
  test.for(Object.entries(wrong))('whose middle %s', async ([, changed]) => {
    expect(await leads([await made('middle', 'root', changed)])).toBe(false);
  });

  test('that is longer than an authority allows', async () => {
    const short = [extension.constraints({ ca: true, pathLength: 0 }), extension.usage(0x04)];
    const [upper, middle] = [await made('upper', 'root', { extensions: short }), await made('middle', 'upper')];
    expect(await leads([middle, upper])).toBe(false);
    expect(await leads([middle, await made('upper', 'root')])).toBe(true);
  });

  test('whose root was expired', async () => {
    expect(await leads([await made('middle', 'root')], [await made('root', 'root', { until: '2026-01-01' })])).toBe(false);
  });

  test('that goes in circles ends', async () => {
    const circle = await Promise.all(Array.from({ length: 30 }, (_, index) => made('middle', 'middle', { serial: BigInt(index) })));
    expect(await leads(circle)).toBe(false);
  });
});

describe('a certificate', () => {
  test('with an extension twice, or cut, is refused', async () => {
    await expect(made('a', 'root', { extensions: [...CA, ...CA] })).rejects.toThrow('twice');
    expect(() => parseCertificate(root.der.subarray(0, -1))).toThrow();
    expect(() => parseCertificate(Buffer.concat([root.der, Buffer.from([0])]))).toThrow();
  });
});
