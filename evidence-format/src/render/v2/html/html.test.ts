import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleContext, sampleEvidence } from '../../../testing/reports/evidence.ts';
import { sampleFinding, sampleScan } from '../../../testing/reports/parts.ts';
import { evidenceSamples, manyFindings } from '../../../testing/reports/samples.ts';
import { pipelineRun } from '../../../testing/sample-facts.ts';
import { buildReport } from '../report/build-report.ts';
import { renderHtml, text } from './html.ts';

const htmlOf = (evidence: Parameters<typeof renderHtml>[0]): string => [...renderHtml(evidence, sampleContext)].join('');

const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g;
const ALLOWED = new Set(
  'html head meta title style body main header footer section nav div p h1 h2 h3 ul li a bdi blockquote strong code pre table caption thead tbody tr th td dl dt dd'.split(
    ' ',
  ),
);

/** Without the tags that we write, the text must not contain angle brackets, so nothing else can be a tag. */
function tagsOf(html: string): { name: string; attributes: string; closing: boolean }[] {
  const body = html.replace('<!doctype html>', '').replace(/<style>[^<]*<\/style>/, '');
  expect(body.replace(TAG, '')).not.toMatch(/[<>]/);
  return [...body.matchAll(TAG)].map(([, slash, name = '', attributes = '']) => ({ name, attributes, closing: slash === '/' }));
}

function expectHarmless(html: string): void {
  const harmful = tagsOf(html).filter(
    ({ name, attributes }) =>
      !ALLOWED.has(name) ||
      / (on[a-z]+|style|src|srcset|action)=/.test(attributes) ||
      [...attributes.matchAll(/ href="([^"]*)"/g)].some(([, address = '']) => !/^#[a-z]+$/.test(address)),
  );
  expect(harmful).toEqual([]);
}

const names = Object.keys(evidenceSamples) as (keyof typeof evidenceSamples)[];

describe('report.html', () => {
  it.each(names)('has no scripts, external resources or external links: %s', (name) => {
    expectHarmless(htmlOf(evidenceSamples[name]()));
  });

  it('escapes everything that users wrote', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('</style><script>', '"><img src=x onerror=x>', "' onload='")), (wild) => {
        const finding = sampleFinding(1, { title: wild, component: wild, state_reason: wild, place: wild });
        expectHarmless(htmlOf(sampleEvidence({ findings: [finding], note: wild, organization: { id: '1', name: wild } })));
      }),
      { numRuns: 60 },
    );
  });

  it('shows when a fix was published next to when it was claimed and closed, and says how to compare them', () => {
    const html = (fix_published_date: string | null) => htmlOf(sampleEvidence({ findings: [sampleFinding(1, { fix_published_date })] }));
    const lines = html('2026-03-01')
      .replaceAll(/<[^>]*>/g, '\n')
      .split(/\n+/);
    const published = lines.indexOf('Fix published 2026-03-01');
    expect(lines.slice(published - 1, published + 3)).toEqual(['First 2026-03-02', 'Fix published 2026-03-01', 'Claimed 2026-04-24', 'Closed 2026-04-27']);
    expect(html('2026-03-01')).toContain('Release and installation of patches');
    expect(html(null)).not.toMatch(/Fix published|Release and installation/);
  });

  it('says which run of a pipeline sent a scan, and that only its token says so', () => {
    const { delivery, ...scan } = sampleScan(1);
    const html = htmlOf(sampleEvidence({ scans: [{ ...scan, delivery: { ...delivery, method: 'pipeline', pipeline: pipelineRun } }] }));
    for (const said of ['Recorded from the token of https://ci.example, not attested', 'Protected ref refs/heads/main', 'Run 1234567890'])
      expect(html).toContain(said);
  });

  it('allows only its own style', () => {
    const html = htmlOf(evidenceSamples.finished());
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`);
    expect(style).toContain('prefers-color-scheme:dark');
    expect(style).toContain('@media print');
    expect(style).not.toMatch(/url\(|@import/);
  });

  it.each(names)('is accessible: %s', (name) => {
    const html = htmlOf(evidenceSamples[name]());
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    const levels = tagsOf(html).flatMap((tag) => (/^h\d$/.test(tag.name) && !tag.closing ? [Number(tag.name.slice(1))] : []));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [index, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of html.matchAll(/(?:aria-labelledby="|href="#)([^"]*)"/g)) expect(ids).toContain(id);
    expect(html.match(/<th /g)).toHaveLength(html.match(/<th (scope="col"|scope="row")/g)?.length ?? 0);
    expect(html.match(/<table/g)?.length).toBe(html.match(/<caption/g)?.length);
    const labels = [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label);
    expect(new Set(labels).size).toBe(labels.length);
    const stack: string[] = [];
    for (const tag of tagsOf(html)) {
      if (tag.name === 'meta') continue;
      if (tag.closing) expect(stack.pop()).toBe(tag.name);
      else stack.push(tag.name);
    }
    expect(stack).toEqual([]);
  });

  it.each(names)('contains everything in the report: %s', (name) => {
    const html = htmlOf(evidenceSamples[name]());
    const { cover, sections } = buildReport(evidenceSamples[name](), sampleContext);
    const texts = [
      ...[cover.verdict.headline, ...cover.verdict.reasons, ...cover.grade.gaps, cover.scope, cover.quote.text],
      ...sections.flatMap(({ heading, blocks }) => [
        heading,
        ...blocks.flatMap((block) => (block.kind === 'table' ? [...block.rows].flatMap(({ cells }) => cells.flat().map((line) => line.text)) : [])),
      ]),
    ];
    expect(texts.length).toBeGreaterThan(20);
    for (const each of texts) expect(html).toContain(text(each));
  });

  it('lists the first findings of a large package and says where the others are', () => {
    const html = htmlOf(manyFindings(1_500));
    expect(html.match(/<tr id="F\d+">/g)).toHaveLength(100);
    expect(html).toContain('This section shows 100 of 1,500 findings');
    expect(html).toContain('<h3>Fixed (100 of 1,500)</h3>');
  });

  it('shows the title of the work item after the verdict and outside its box', () => {
    const html = htmlOf(evidenceSamples.hostile());
    const box = html.slice(html.indexOf('<section class="verdict'), html.indexOf('<section class="completeness'));
    expect(box).toContain('NOT remediated');
    expect(html.indexOf('REMEDIATED – GRADE A')).toBeGreaterThan(html.indexOf('</section>\n<section class="completeness'));
    expect(html.slice(0, html.indexOf('<blockquote>'))).not.toMatch(/REMEDIATED – GRADE A|alert/);
  });

  it('marks what an auditor must not overlook', () => {
    const html = htmlOf(evidenceSamples.whitewashed());
    for (const mark of [
      'Withdrew a finding',
      'Loosened the policy',
      'Does not support',
      'Changed since',
      'The approver took part in the work',
      'Discarded by a person',
    ])
      expect(html).toContain(mark);
    expect(htmlOf(evidenceSamples.unfinished())).toContain('Link only, content not captured');
  });
});
