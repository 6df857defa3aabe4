import { createHash } from 'node:crypto';
import { type Evidence, PACKAGE_FORMATS, TEXT_FORMATS } from '@rrs/evidence-format';
import { evidenceSamples, manyFindings, sampleArtifact, sampleContext, sampleEvidence } from '@rrs/evidence-format/samples';
import { describe, expect, it } from 'vitest';
import { schemaChecks, schemasPresent } from '../../testing/evidence/published-schemas.ts';
import { evidenceFormats, possibleFormats } from './formats.ts';

const samples = { ...evidenceSamples, many: () => manyFindings(40) };
const sampleNames = Object.keys(samples) as (keyof typeof samples)[];

async function rendered(format: string, evidence: Evidence): Promise<Buffer> {
  const found = evidenceFormats.find((each) => each.format === format);
  if (found === undefined) throw new Error(`no format ${format}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.render(evidence, sampleContext)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const documentOf = (format: keyof typeof TEXT_FORMATS, evidence: Evidence) => JSON.parse([...TEXT_FORMATS[format].render(evidence, sampleContext)].join(''));

describe.skipIf(!schemasPresent)(schemasPresent ? 'with the published schemas' : 'with the published schemas (not available)', () => {
  it.each(Object.entries(schemaChecks))('%s is valid for every sample that the format supports', async (format, compile) => {
    const validate = compile();
    let checked = 0;
    for (const sample of sampleNames) {
      if (!possibleFormats([format as 'openvex'], samples[sample]()).some((each) => each.format === format)) continue;
      const document = JSON.parse((await rendered(format, samples[sample]())).toString());
      expect(validate(document) ? null : validate.errors, sample).toBeNull();
      checked++;
    }
    expect(checked).toBeGreaterThanOrEqual(sampleNames.length - 1);
    expect(validate({ nothing: 'of the kind' })).toBe(false);
  });

  it('the formats that are left out without findings would be invalid', () => {
    for (const format of ['openvex', 'oscal-poam'] as const) expect(schemaChecks[format]()(documentOf(format, evidenceSamples.empty()))).toBe(false);
  });
});

describe('the table of formats', () => {
  it('has every format once, each with its own path', () => {
    expect(evidenceFormats.map(({ format }) => format).sort()).toEqual([...PACKAGE_FORMATS].sort());
    expect(new Set(evidenceFormats.map(({ path }) => path)).size).toBe(PACKAGE_FORMATS.length);
    for (const { path } of evidenceFormats) expect(path).toMatch(/^data\/(formats\/)?[a-z-]+\.[a-z]+$/);
  });

  it('leaves out formats that need a finding', () => {
    const missing = PACKAGE_FORMATS.filter((format) => !possibleFormats(PACKAGE_FORMATS, { findings: [] }).some((each) => each.format === format));
    expect(missing).toEqual(['oscal-poam', 'openvex']);
    expect(possibleFormats(['pdf'], sampleEvidence()).map(({ format }) => format)).toEqual(['pdf']);
  });

  it.each(PACKAGE_FORMATS)('%s is deterministic', async (format) => {
    const hash = async () =>
      createHash('sha256')
        .update(await rendered(format, samples.unfinished()))
        .digest('hex');
    expect(await hash()).toBe(await hash());
  });
});

describe('OSCAL', () => {
  /** Every `uuid` of a thing, and every id that refers to one. */
  function idsIn(value: unknown, found = { things: [] as string[], references: [] as string[] }) {
    if (Array.isArray(value)) for (const each of value) idsIn(each, found);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) {
        if (key === 'uuid') found.things.push(each as string);
        else if (key.endsWith('-uuid')) found.references.push(each as string);
        else if (key === 'href' && String(each).startsWith('#')) found.references.push(String(each).slice(1));
        else idsIn(each, found);
      }
    return found;
  }

  it.each(sampleNames)('has unique ids and no dangling references: %s', (sample) => {
    for (const format of ['oscal-ar', 'oscal-poam'] as const) {
      const { things, references } = idsIn(documentOf(format, samples[sample]()));
      expect(new Set(things).size).toBe(things.length);
      expect(things).toEqual(expect.arrayContaining([...new Set(references)]));
    }
  });

  it('uses the same id for a finding in every package', () => {
    const plan = (package_id: string) => documentOf('oscal-poam', sampleEvidence({ package_id }))['plan-of-action-and-milestones'];
    const [one, other] = [plan('a'), plan('b')];
    expect(one.uuid).not.toBe(other.uuid);
    expect(one['poam-items']).toEqual(other['poam-items']);
  });

  it('links only to valid web URLs and checks them quickly', () => {
    const linked = (url: string): string[] => {
      const { resources } = documentOf('oscal-ar', sampleEvidence({ artifacts: [sampleArtifact(1, { url, file: null })] }))['assessment-results'][
        'back-matter'
      ];
      return resources.at(-1).rlinks?.map(({ href }: { href: string }) => href) ?? [];
    };
    expect(linked('https://git.example.com:8443/a/b?c=d%20e#f')).toEqual(['https://git.example.com:8443/a/b?c=d%20e#f']);
    for (const url of ['javascript:alert(1)', 'https://a b/', 'https://a/#x#y', 'https://a/%zz', 'https://a/{x}', `https://a/${'/?'.repeat(50_000)}\n`])
      expect(linked(url)).toEqual([]);
  });
});
