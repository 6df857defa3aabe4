import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleContext, sampleEvidence, sampleFinding } from '../../../testing/evidence/sample.ts';
import { evidenceSamples, manyFindings } from '../../../testing/evidence/samples.ts';
import { printable, REPLACEMENT } from '../pdf/printable.ts';
import { buildReport } from './build-report.ts';
import { renderHtml, text } from './html.ts';

const htmlOf = (evidence: Parameters<typeof renderHtml>[0], context = sampleContext()): string => [...renderHtml(evidence, context)].join('');

const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g;
const ALLOWED = new Set(
  'html head meta title style body main header footer section nav div p h1 h2 h3 ul li a bdi strong code pre table caption thead tbody tr th td meter dl dt dd'.split(
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
    const { cover, sections } = buildReport(evidenceSamples[name](), sampleContext());
    const texts = [
      ...[cover.verdict.headline, ...cover.verdict.reasons, ...(cover.verdict.open?.items ?? []), ...cover.completeness.gaps],
      ...sections.flatMap(({ heading, blocks }) => [
        heading,
        ...blocks.flatMap((block) => (block.kind === 'table' ? [...block.rows].flatMap(({ cells }) => cells.flat().map((line) => line.text)) : [])),
      ]),
    ];
    expect(texts.length).toBeGreaterThan(20);
    for (const each of texts) expect(html).toContain(text(each));
  });

  it('contains every finding and shortens only the timeline, with a note', () => {
    const event = { actor: 'ada', what: 'did', object: 'it' };
    const timeline = Array.from({ length: 1_001 }, (_, index) => ({ ...event, at: new Date(1_700_000_000_000 + index * 60_000).toISOString() }));
    const html = htmlOf(manyFindings(1_500), sampleContext({ timeline }));
    expect(html.match(/<tr id="F\d+">/g)).toHaveLength(1_500);
    expect(html).toContain('All 1,001 events are in data/timeline.json. This table shows the first 500 and the last 500.');
    expect(htmlOf(sampleEvidence(), sampleContext({ timeline: timeline.slice(1) }))).not.toContain('This table shows');
  });

  it('marks uncaptured links, removed artifacts and suggested controls', () => {
    const html = htmlOf(evidenceSamples.unfinished());
    for (const mark of ['Link only, content not captured', 'Removed', 'These are suggestions. The auditor decides', 'Nobody approved'])
      expect(html).toContain(mark);
  });
});

describe('printable text', () => {
  it('reveals characters that reverse, hide or stack text', () => {
    expect(printable('invoice\u202Efdp.exe')).toBe(`invoice${REPLACEMENT}fdp.exe`);
    expect(printable('a\u0000b\u200Bc\uD800')).toBe(`a${REPLACEMENT}b${REPLACEMENT}c${REPLACEMENT}`);
    expect(printable(`e${'\u0301'.repeat(9)}`)).toBe(`e\u0301\u0301\u0301${REPLACEMENT}`);
    expect(printable(' two\r\n lines\t')).toBe('two lines');
    expect(printable('می\u200Cخواهم')).toBe('می\u200Cخواهم');
  });

  it('is one line, idempotent and never longer than the original', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (wild) => {
        const shown = printable(wild);
        expect(shown).not.toMatch(/[\p{Cc}\n\r]|^\s|\s$/u);
        expect(printable(shown)).toBe(shown);
        expect(shown.length).toBeLessThanOrEqual(wild.length);
      }),
    );
  });
});
