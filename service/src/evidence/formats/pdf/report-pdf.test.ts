import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { buildReport, type Evidence, GAP_CODES, REPLACEMENT, type Report } from '@rrs/evidence-format';
import { evidenceSamples, hostileTexts, manyFindings, sampleContext } from '@rrs/evidence-format/samples';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pdfText } from '../../../testing/evidence/pdf-text.ts';
import { type Fonts, joinRightToLeft, type Style, wrap } from './fonts.ts';
import { compose, renderPdf } from './report-pdf.ts';
import { openDocument, PAGE, type Part, type Surface } from './surface.ts';

async function pdfOf(evidence: Parameters<typeof renderPdf>[0]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of renderPdf(evidence, sampleContext)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reading the fonts takes longer than composing a report. */
const { fonts } = openDocument(buildReport(evidenceSamples.empty(), sampleContext));

interface Drawn {
  line: string;
  style: Style;
  page: number;
  x: number;
  y: number;
}

/** Composes a report on a surface that records the position of every line. */
function drawn(report: Report): { lines: Drawn[]; fonts: Fonts; pages: number; roles: string[] } {
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
    bookmarks: [],
    bookmark: () => undefined,
    end: () => undefined,
  };
  for (const _ of compose(surface, report, []));
  return { lines, fonts, pages: surface.pages, roles };
}

const onPage = ({ lines }: { lines: Drawn[] }, number: number): string[] => lines.filter(({ page }) => page === number).map(({ line }) => line);

const names = Object.keys(evidenceSamples) as (keyof typeof evidenceSamples)[];

describe('report.pdf', () => {
  it('has the same bytes in every time zone', async () => {
    const here = createHash('sha256')
      .update(await pdfOf(evidenceSamples.unfinished()))
      .digest('hex');
    const script = `
      const { renderPdf } = await import(${JSON.stringify(new URL('./report-pdf.ts', import.meta.url).href)});
      const { evidenceSamples, sampleContext } = await import(${JSON.stringify(import.meta.resolve('@rrs/evidence-format/samples'))});
      const hash = (await import('node:crypto')).createHash('sha256');
      for await (const chunk of renderPdf(evidenceSamples.unfinished(), sampleContext)) hash.update(chunk);
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

  it('is a tagged PDF in English with embedded fonts and without active content', async () => {
    const text = (await pdfOf(evidenceSamples.finished())).toString('latin1');
    for (const said of ['/Marked true', '/Lang (en)', '/DisplayDocTitle true', '(D:20260503140001Z)']) {
      expect(text).toContain(said);
    }
    expect(text.match(/\/FontFile2/g)).toHaveLength(3);
    expect(text).toMatch(/^%PDF-1\.7/);
    expect(text).not.toMatch(/\/(JavaScript|JS|Launch|URI|OpenAction|EmbeddedFile|Annots)\b/);
    // PDF/A is claimed only where a validator confirms it.
    expect(text).not.toMatch(/pdfa/i);
  });

  it('has as many pages as the footer says', async () => {
    const evidence = manyFindings(60);
    const text = (await pdfOf(evidence)).toString('latin1');
    const { pages } = drawn(buildReport(evidence, sampleContext));
    expect(pages).toBeGreaterThan(5);
    expect(text.match(/\/Type \/Page\n/g)).toHaveLength(pages);
    expect(text).toMatch(new RegExp(`/Count ${pages}\\b`));
  });

  it.each(names)('keeps every line inside the margins: %s', (name) => {
    const { lines, fonts } = drawn(buildReport(evidenceSamples[name](), sampleContext));
    expect(lines.length).toBeGreaterThan(50);
    const outside = lines.filter(
      ({ line, style, page, x, y }) =>
        x < PAGE.left || x + fonts.width(line, style) > PAGE.right + 0.01 || y < (page === 1 ? 40 : PAGE.top) || y + style.size > PAGE.bottom + style.size / 2,
    );
    expect(outside).toEqual([]);
  });

  it('shows the conclusion, the grade and the gaps on the first page', () => {
    const first = (name: keyof typeof evidenceSamples) => onPage(drawn(buildReport(evidenceSamples[name](), sampleContext)), 1);
    expect(first('finished')).toContain('Remediated');
    expect(first('finished')).toContain('Completeness: grade A. No gaps.');
    const unfinished = first('unfinished');
    expect(unfinished).toContain('NOT fully remediated');
    expect(unfinished.join(' ')).toContain('Nobody approved the work, although the organization required a second person to approve it.');
    expect(first('empty')).toContain('NOT remediated');
    expect(first('exceptions')).toContain('Risk accepted, NOT remediated');
  });

  it.each(names)('has one page before the decision register: %s', (name) => {
    const report = drawn(buildReport(evidenceSamples[name](), sampleContext));
    expect(onPage(report, 2)).toContain('Decision register');
    expect(onPage(report, 1).join(' ')).toContain('This is evidence for one work item at one point in time.');
  });

  it('shows the title of the work item below the verdict and the grade, in quotation marks', () => {
    const lines = onPage(drawn(buildReport(evidenceSamples.hostile(), sampleContext)), 1);
    const quote = lines.findIndex((line) => line.startsWith('“REMEDIATED – GRADE A.'));
    expect(quote).toBeGreaterThan(lines.findIndex((line) => line.startsWith('Completeness: grade')));
    expect(lines.findIndex((line) => line.includes('REMEDIATED – GRADE A'))).toBe(quote);
    expect(lines.slice(0, quote).join(' ')).not.toMatch(/alert|HYPERLINK/);
  });

  it('has a table of contents with the right pages if it has more than eight pages', async () => {
    const pages = pdfText(await pdfOf(evidenceSamples.whitewashed()));
    expect(pages.length).toBeGreaterThan(8);
    expect(pages[1]).toContain('Contents');
    const { sections } = buildReport(evidenceSamples.whitewashed(), sampleContext);
    for (const { heading } of sections) {
      const entry = pages[1]?.indexOf(`${heading} `) ?? -1;
      expect(pages[Number(pages[1]?.[entry + 1]) - 1], heading).toContain(heading);
    }
    expect(pdfText(await pdfOf(evidenceSamples.empty())).flat()).not.toContain('Contents');
  });

  it('has at most 60 pages, whatever the package contains', () => {
    const text = (index: number) => hostileTexts[index % hostileTexts.length] ?? '';
    const many = manyFindings(10_000, (index) => {
      const [title, reason, owner] = [text(index), text(index + 1), text(index + 2)];
      const decision = { state: 'risk_accepted', standing: 'excepted', cause: 'person', state_reason: reason } as const;
      return {
        title,
        component: title,
        place: title,
        ...decision,
        acceptance: { owner, expires_at: null, compensating_control: text(index + 3), requested_by: null, approved_by: null },
      };
    });
    const { artifacts, assets, scans, unlinked, people, decisions } = evidenceSamples.hostile();
    const repeated = <T>(items: readonly T[]): T[] => Array.from({ length: 200 }, () => items).flat();
    const evidence = {
      ...many,
      artifacts: repeated(artifacts),
      assets: repeated(assets),
      scans: repeated(scans),
      unlinked: repeated(unlinked),
      people: repeated(people),
      decisions: repeated(decisions),
      completeness: {
        grade: 'D',
        gaps: GAP_CODES.map((code) => ({ code, weight: 'major', about: [many.findings[0]?.id ?? ''], values: { named: text(11) } })),
      },
    } as const satisfies Partial<Evidence>;
    const { pages, lines } = drawn(
      buildReport({ ...evidence, completeness: { ...evidence.completeness, gaps: [...evidence.completeness.gaps] } }, sampleContext),
    );
    expect(pages).toBeLessThanOrEqual(60);
    const all = lines.map(({ line }) => line).join(' ');
    expect(all).toContain('This table shows the first 40 of 10,000. data/findings.csv has all of them.');
    expect(all).toContain('2,360 more acts, grouped by kind and person.');
  });

  it('repeats the header row of a table on each page and tags it once', () => {
    const { lines, roles } = drawn(buildReport(manyFindings(60), sampleContext));
    const heads = lines.filter(({ line }) => line === 'Before → after');
    expect(new Set(heads.map(({ page }) => page)).size).toBe(heads.length);
    expect(heads.length).toBeGreaterThan(5);
    const { cover, sections } = buildReport(manyFindings(60), sampleContext);
    const tables = [cover.counts, ...sections.flatMap(({ blocks }) => blocks.filter((block) => block.kind === 'table'))];
    expect(roles.filter((role) => role === 'TR')).toHaveLength(tables.reduce((sum, { rows }) => sum + rows.length + 1, 0));
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
    for await (const _ of renderPdf(manyFindings(150), sampleContext)) chunks++;
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
    const style: Style = { font: 'sans', size: 9, color: '#000000' };
    expect(fonts.wrap('漏 ok', style, 500)).toEqual([`${REPLACEMENT} ok`]);
    expect(fonts.wrap('ok → שלום', style, 500)).toEqual(['ok → שלום']);
  });

  it('keeps right-to-left words together', () => {
    expect(joinRightToLeft('a שלום עולם b')).toBe('a שלום\u{A0}עולם  b');
    expect(joinRightToLeft('plain words')).toBe('plain words');
  });
});
