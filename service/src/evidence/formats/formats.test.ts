import { createHash } from 'node:crypto';
import { FINDING_STATES, type Finding, PACKAGE_FORMATS } from '@rrs/evidence-format';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaChecks, schemasPresent } from '../../testing/evidence/published-schemas.ts';
import { sampleArtifact, sampleContext, sampleEvidence, sampleFinding } from '../../testing/evidence/sample.ts';
import { evidenceSamples, manyFindings } from '../../testing/evidence/samples.ts';
import { cycloneDxVex } from './cyclonedx-vex.ts';
import { renderCsv } from './findings-csv.ts';
import { evidenceFormats, possibleFormats } from './formats.ts';
import { jsonPieces } from './json-pieces.ts';
import { openVex } from './openvex.ts';
import { oscalAssessmentResults } from './oscal/assessment-results.ts';
import { oscalId } from './oscal/oscal.ts';
import { oscalPoam } from './oscal/poam.ts';
import { sarif } from './sarif.ts';
import { renderTimeline } from './timeline.ts';

const samples = { ...evidenceSamples, many: () => manyFindings(40) };
const sampleNames = Object.keys(samples) as (keyof typeof samples)[];

async function rendered(format: string, sample: keyof typeof samples): Promise<Buffer> {
  const found = evidenceFormats.find((each) => each.format === format);
  if (found === undefined) throw new Error(`no format ${format}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.render(samples[sample](), sampleContext())) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The document as readers get it, with its iterators written as arrays. */
const written = (document: object): unknown => JSON.parse([...jsonPieces(document)].join(''));
const first = <T>(items: Iterable<T> = []): T | undefined => [...items][0];

describe.skipIf(!schemasPresent)(schemasPresent ? 'with the published schemas' : 'with the published schemas (not available)', () => {
  it.each(Object.entries(schemaChecks))('%s is valid for every sample that the format supports', async (format, compile) => {
    const validate = compile();
    let checked = 0;
    for (const sample of sampleNames) {
      if (!possibleFormats([format as 'openvex'], samples[sample]()).some((each) => each.format === format)) continue;
      const document = JSON.parse((await rendered(format, sample)).toString());
      expect(validate(document) ? null : validate.errors, sample).toBeNull();
      checked++;
    }
    expect(checked).toBeGreaterThanOrEqual(sampleNames.length - 1);
    expect(validate({ nothing: 'of the kind' })).toBe(false);
  });

  it('the formats that are left out without findings would be invalid', () => {
    const none = evidenceSamples.empty();
    expect(schemaChecks.openvex()(written(openVex(none)))).toBe(false);
    expect(schemaChecks['oscal-poam']()(written(oscalPoam(none)))).toBe(false);
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
        .update(await rendered(format, 'unfinished'))
        .digest('hex');
    expect(await hash()).toBe(await hash());
  });
});

const anyState = fc.constantFrom(...FINDING_STATES).map((state) => sampleFinding(1, { state }));

describe('every format', () => {
  it('claims a finding as fixed only if it is verified', () => {
    fc.assert(
      fc.property(anyState, (finding) => {
        const evidence = sampleEvidence({ findings: [finding] });
        const proven = finding.state === 'verified';
        expect(first(openVex(evidence).statements)?.status === 'fixed').toBe(proven);
        expect(first(cycloneDxVex(evidence).vulnerabilities)?.analysis.state === 'resolved').toBe(proven);
        expect(first(sarif(evidence).runs[0]?.results)?.kind === 'pass').toBe(proven);
        const item = first(oscalPoam(evidence)['plan-of-action-and-milestones']['poam-items']);
        expect(item?.props.find(({ name }) => name === 'open')?.value).toBe(String(['open', 'in_progress', 'remediated'].includes(finding.state)));
        const outcome = first(oscalAssessmentResults(evidence)['assessment-results'].results[0]?.findings);
        expect(outcome?.target.status.state).toBe(proven || finding.state === 'false_positive' ? 'satisfied' : 'not-satisfied');
      }),
    );
  });

  it('reports a result as absent only after a scan that did not see it', () => {
    const after = (state: Finding['after']['state']) => sarif(sampleEvidence({ findings: [sampleFinding(1, { after: { state, scan: null } })] }));
    const states = (['absent', 'present', 'unknown'] as const).map((state) => first(after(state).runs[0]?.results)?.baselineState);
    expect(states).toEqual(['absent', 'unchanged', 'unchanged']);
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
    for (const document of [oscalAssessmentResults(samples[sample]()), oscalPoam(samples[sample]())]) {
      const { things, references } = idsIn(written(document));
      expect(new Set(things).size).toBe(things.length);
      expect(things).toEqual(expect.arrayContaining([...new Set(references)]));
    }
  });

  it('uses the same id for a finding in every package', () => {
    const ids = (package_id: string) => oscalPoam(sampleEvidence({ package_id }))['plan-of-action-and-milestones'];
    const [one, other] = [ids('a'), ids('b')];
    expect(one.uuid).not.toBe(other.uuid);
    expect([...one['poam-items']]).toEqual([...other['poam-items']]);
    expect(oscalId('finding', 'x')).not.toBe(oscalId('risk', 'x'));
  });
});

it('OSCAL links only to valid web URLs and checks them quickly', () => {
  const linked = (url: string) => {
    const evidence = sampleEvidence({ artifacts: [sampleArtifact(1, { url, file: null })] });
    return (
      oscalAssessmentResults(evidence)
        ['assessment-results']['back-matter'].resources.at(-1)
        ?.rlinks?.map(({ href }) => href) ?? []
    );
  };
  expect(linked('https://git.example.com:8443/a/b?c=d%20e#f')).toEqual(['https://git.example.com:8443/a/b?c=d%20e#f']);
  for (const url of ['javascript:alert(1)', 'https://a b/', 'https://a/#x#y', 'https://a/%zz', 'https://a/{x}', `https://a/${'/?'.repeat(50_000)}\n`])
    expect(linked(url)).toEqual([]);
});

describe('findings.csv', () => {
  /** RFC 4180, as a spreadsheet reads it. */
  function parse(text: string): string[][] {
    const rows: string[][] = [];
    for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
      if (rows.length === 0 || rows.at(-1)?.at(-1) === END) rows.push([]);
      const row = rows.at(-1) as string[];
      row.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
      if (end === '\r\n') row.push(END);
    }
    return rows.map((row) => row.slice(0, -1));
  }
  const END = 'end of the row';

  it('preserves any title and contains no formulas', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (titles) => {
        const findings = titles.map((title, index) => sampleFinding(index, { title }));
        const [head, ...rows] = parse([...renderCsv(sampleEvidence({ findings }))].join(''));
        const at = head?.indexOf('title') ?? -1;
        const read = rows.map((row) => row[at] ?? '');
        expect(read.map((cell) => cell.replace(/^'(?=[=+\-@\t\r\n])/, ''))).toEqual(titles.map((title) => title.replace(/^'(?=[=+\-@\t\r\n])/, '')));
        expect(read.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([]);
        expect(rows.filter((row) => row.length !== head?.length)).toEqual([]);
      }),
    );
  });
});

it('timeline.json contains the events in order', () => {
  const { timeline } = sampleContext();
  expect(JSON.parse(renderTimeline(timeline))).toEqual({ events: timeline });
});
