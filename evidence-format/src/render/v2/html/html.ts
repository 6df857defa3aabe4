import type { Evidence } from '../../../document/evidence.ts';
import type { RenderContext } from '../context.ts';
import { buildReport } from '../report/build-report.ts';
import type { Block, Cover, Fact, Line, Report, Section, Table } from '../report/model.ts';
import { printable } from '../words/printable.ts';
import { STYLE, STYLE_HASH } from './style.ts';

/** One file without scripts, external resources or external links. Everything that users wrote is escaped text, including URLs. */
export function* renderHtml(evidence: Evidence, context: RenderContext): Generator<string> {
  const report = buildReport(evidence, context);
  yield head(report);
  yield* coverHtml(report);
  yield contents(report.sections);
  for (const section of report.sections) yield* sectionHtml(section);
  yield `</main>\n<footer><p>${text(report.mark)}. Package <code>${text(report.packageId)}</code>, ${text(report.producer)}</p></footer>\n</body>\n</html>\n`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function text(value: string): string {
  return printable(value).replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

function head({ lang, title }: Report): string {
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${text(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
`;
}

/** Text that users wrote comes after the verdict and outside its box. */
function* coverHtml({ cover }: Report): Generator<string> {
  const { kicker, verdict, grade, counts, quote, facts, scope }: Cover = cover;
  yield `<header>
<p class="mark">${text(cover.mark)}</p>
<h1 class="kicker">${text(kicker)}</h1>
</header>
<section class="verdict ${verdict.tone}" aria-labelledby="conclusion">
<h2 id="conclusion">${text(verdict.headline)}</h2>
<p class="lead">${text(verdict.sentence)}</p>
${list(verdict.reasons)}</section>
<section class="completeness" aria-labelledby="completeness">
<p class="grade ${grade.tone}" aria-hidden="true">${text(grade.grade)}</p>
<div><h2 id="completeness">Completeness: grade ${text(grade.grade)}. ${text(grade.sentence)}</h2>
${list(grade.gaps)}<p class="quiet">${text(grade.legend)}</p></div>
</section>
`;
  yield* tableHtml(counts, 'numbers');
  yield `<p class="quiet">${text(quote.label)}</p>
<blockquote>“${bidi(quote.text)}”</blockquote>
${factsHtml(facts)}<p><strong>${text(scope)}</strong></p>
`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>\n${items.map((item) => `<li>${bidi(item)}</li>\n`).join('')}</ul>\n`;
}

/** Isolates the writing direction of text that users wrote. */
const bidi = (value: string): string => `<bdi>${text(value)}</bdi>`;

function factsHtml(facts: readonly Fact[]): string {
  return `<dl>\n${facts.map(([label, value]) => `<div><dt>${text(label)}</dt><dd>${bidi(value)}</dd></div>\n`).join('')}</dl>\n`;
}

function contents(sections: readonly Section[]): string {
  return `<nav aria-label="Contents"><ul>\n${sections.map(({ id, heading }) => `<li><a href="#${id}">${text(heading)}</a></li>\n`).join('')}</ul></nav>\n`;
}

function* sectionHtml({ id, heading, blocks }: Section): Generator<string> {
  yield `<section aria-labelledby="${id}">\n<h2 id="${id}">${text(heading)}</h2>\n`;
  for (const block of blocks) yield* blockHtml(block);
  yield '</section>\n';
}

function* blockHtml(block: Block): Generator<string> {
  switch (block.kind) {
    case 'text':
      yield `<p>${text(block.text)}</p>\n`;
      return;
    case 'heading':
      yield `<h3>${text(block.text)}</h3>\n`;
      return;
    case 'facts':
      yield factsHtml(block.facts);
      return;
    case 'commands':
      yield `<pre tabindex="0"><code>${block.lines.map(text).join('\n')}</code></pre>\n`;
      return;
    case 'table':
      yield* tableHtml(block);
  }
}

function* tableHtml({ heading, caption, columns, rows }: Table, kind = 'wide'): Generator<string> {
  if (heading !== null) yield `<h3>${text(heading)}</h3>\n`;
  const heads = columns.map((column) => `<th scope="col" class="w${column.share}">${text(column.heading)}</th>`).join('');
  yield `<div class="scroll" role="region" aria-label="${text(caption)}, table" tabindex="0"><table class="${kind}">\n<caption class="visually-hidden">${text(caption)}</caption>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n`;
  for (const { anchor, cells } of rows) {
    const id = anchor === null ? '' : ` id="${text(anchor)}"`;
    yield `<tr${id}>${cells.map((lines) => `<td>${lines.map(lineHtml).join('')}</td>`).join('')}</tr>\n`;
  }
  yield '</tbody></table></div>\n';
}

function lineHtml({ text: value, as }: Line): string {
  return as === 'plain' ? `<div>${bidi(value)}</div>` : `<div class="${as}">${bidi(value)}</div>`;
}
