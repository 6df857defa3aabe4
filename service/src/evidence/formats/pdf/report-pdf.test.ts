import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleContext } from '../../../testing/evidence/sample.ts';
import { evidenceSamples, manyFindings } from '../../../testing/evidence/samples.ts';
import { buildReport } from '../report/build-report.ts';
import type { Report } from '../report/report-model.ts';
import { type Fonts, joinRightToLeft, type Style, wrap } from './fonts.ts';
import { REPLACEMENT } from './printable.ts';
import { compose, renderPdf } from './report-pdf.ts';
import { openDocument, PAGE, type Part, type Surface } from './surface.ts';

async function pdfOf(evidence: Parameters<typeof renderPdf>[0]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of renderPdf(evidence, sampleContext())) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Drawn {
  line: string;
  style: Style;
  page: number;
  x: number;
  y: number;
}

/** Composes a report on a surface that records the position of every line. */
function drawn(report: Report): { lines: Drawn[]; fonts: Fonts; pages: number; roles: string[] } {
  const { fonts } = openDocument(report);
  const lines: Drawn[] = [];
  const roles: string[] = [];
  const part: Part = {
    add: (role) => {
      roles.push(role);
      return part;
    },
    content: (draw) => draw(),
    end: () => undefined,
  };
  const surface: Surface = {
    fonts,
    root: part,
    pages: 0,
    replaced: false,
    newPage: () => {
      surface.pages++;
    },
    text: (line, style, { x, y }) => {
      lines.push({ line, style, page: surface.pages, x, y });
    },
    fill: () => undefined,
    decoration: (draw) => draw(),
    bookmark: () => undefined,
    end: () => undefined,
  };
  for (const _ of compose(surface, report));
  return { lines, fonts, pages: surface.pages, roles };
}

const names = Object.keys(evidenceSamples) as (keyof typeof evidenceSamples)[];

describe('report.pdf', () => {
  it('has the same bytes in every time zone', async () => {
    const here = createHash('sha256')
      .update(await pdfOf(evidenceSamples.unfinished()))
      .digest('hex');
    const script = `
      const { renderPdf } = await import(${JSON.stringify(new URL('./report-pdf.ts', import.meta.url).href)});
      const { sampleContext } = await import(${JSON.stringify(new URL('../../../testing/evidence/sample.ts', import.meta.url).href)});
      const { evidenceSamples } = await import(${JSON.stringify(new URL('../../../testing/evidence/samples.ts', import.meta.url).href)});
      const hash = (await import('node:crypto')).createHash('sha256');
      for await (const chunk of renderPdf(evidenceSamples.unfinished(), sampleContext())) hash.update(chunk);
      process.stdout.write(new Date(0).getTimezoneOffset() + ' ' + hash.digest('hex'));`;
    const offsets = new Set<string>();
    for (const TZ of ['Asia/Tokyo', 'America/St_Johns']) {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: { TZ } });
      const [offset, hash] = stdout.split(' ');
      offsets.add(offset ?? '');
      expect(hash, TZ).toBe(here);
    }
    expect(offsets.size).toBe(2);
  });

  it('is a tagged PDF/A in English with embedded fonts and without active content', async () => {
    const text = (await pdfOf(evidenceSamples.finished())).toString('latin1');
    for (const said of ['/Marked true', '/Lang (en)', '/DisplayDocTitle true', '(D:20260503140001Z)', '<pdfaid:part>2</pdfaid:part>', '/GTS_PDFA1']) {
      expect(text).toContain(said);
    }
    expect(text.match(/\/FontFile2/g)).toHaveLength(3);
    expect(text).toMatch(/^%PDF-1\.7/);
    expect(text).not.toMatch(/\/(JavaScript|JS|Launch|URI|OpenAction|EmbeddedFile|Annots)\b/);
  });

  it('has as many pages as the footer says', async () => {
    const evidence = manyFindings(60);
    const text = (await pdfOf(evidence)).toString('latin1');
    const { pages } = drawn(buildReport(evidence, sampleContext()));
    expect(pages).toBeGreaterThan(5);
    expect(text.match(/\/Type \/Page\n/g)).toHaveLength(pages);
    expect(text).toMatch(new RegExp(`/Count ${pages}\\b`));
  });

  it.each(names)('keeps every line inside the margins: %s', (name) => {
    const { lines, fonts } = drawn(buildReport(evidenceSamples[name](), sampleContext()));
    expect(lines.length).toBeGreaterThan(50);
    const outside = lines.filter(
      ({ line, style, x, y }) =>
        x < PAGE.left || x + fonts.width(line, style) > PAGE.right + 0.01 || y < PAGE.top || y + style.size > PAGE.bottom + style.size / 2,
    );
    expect(outside).toEqual([]);
  });

  it('shows the conclusion, the open findings and the gaps on the first page', () => {
    const first = (name: keyof typeof evidenceSamples) =>
      drawn(buildReport(evidenceSamples[name](), sampleContext()))
        .lines.filter(({ page }) => page === 1)
        .map(({ line }) => line);
    expect(first('finished')).toContain('Remediated');
    expect(first('finished')).toContain('Completeness: grade A. Complete: nothing is missing.');
    const unfinished = first('unfinished');
    expect(unfinished).toContain('NOT fully remediated');
    expect(unfinished).toContain('3 findings are not closed:');
    expect(unfinished.join('\n')).toContain('F1 Log4Shell: remote code execution through JNDI lookups (high, open, due 2026-05-02)');
    expect(unfinished).toContain('Nobody approved it.');
    expect(first('empty')).toContain('NOT remediated');
    expect(first('exceptions')).toContain('Risk accepted, NOT remediated');
  });

  it('repeats the header row of a table on each page and tags it once', () => {
    const { lines, roles } = drawn(buildReport(manyFindings(60), sampleContext()));
    const heads = lines.filter(({ line }) => line === 'Before → after');
    expect(new Set(heads.map(({ page }) => page)).size).toBe(heads.length);
    expect(heads.length).toBeGreaterThan(5);
    expect(roles.filter((role) => role === 'TR')).toHaveLength(60 + 1 + 5 + 1 + 1 + 1 + 2 + 1 + 2 + 1 + 2 + 1 + 3 + 1);
  });

  it('is emitted page by page and lets other work run', async () => {
    let turns = 0;
    let chunks = 0;
    let done = false;
    const watch = () => {
      turns++;
      if (!done) setImmediate(watch);
    };
    setImmediate(watch);
    for await (const _ of renderPdf(manyFindings(150), sampleContext())) chunks++;
    done = true;
    expect(chunks).toBeGreaterThan(5);
    expect(turns).toBeGreaterThan(10);
  });
});

describe('line breaking', () => {
  const width = (text: string) => [...text].length;

  it('never exceeds the width and loses only spaces', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 12, max: 40 }), (text, room) => {
        const lines = wrap(text, width, room);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(room);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      }),
    );
  });

  it('breaks a long word after a separator', () => {
    expect(wrap('https://example.com/a-path', width, 22)).toEqual(['https://example.com/a-', 'path']);
    expect(wrap('xxxxxxxxxx', width, 4)).toEqual(['xxxx', 'xxxx', 'xx']);
  });

  it('replaces characters that the font lacks', () => {
    const { fonts } = openDocument(buildReport(evidenceSamples.finished(), sampleContext()));
    const style: Style = { font: 'sans', size: 9, color: '#000000' };
    expect(fonts.wrap('漏 ok', style, 500)).toEqual([`${REPLACEMENT} ok`]);
    expect(fonts.wrap('ok → שלום', style, 500)).toEqual(['ok → שלום']);
  });

  it('keeps right-to-left words together', () => {
    expect(joinRightToLeft('a שלום עולם b')).toBe('a שלום\u{A0}עולם  b');
    expect(joinRightToLeft('plain words')).toBe('plain words');
  });
});
