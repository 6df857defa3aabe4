import type { ReportContext, ReportedEvidence } from '../context.ts';
import { printable } from '../pdf/printable.ts';
import { buildReport } from './build-report.ts';
import { STYLE, STYLE_HASH } from './html-style.ts';
import type { BarChart, Block, Cover, Fact, Line, Report, Section, Table } from './report-model.ts';

/** One file without scripts, external resources or external links. Everything that users wrote is escaped text, including URLs. */
export function* renderHtml(evidence: ReportedEvidence, context: ReportContext): Generator<string> {
  const report = buildReport(evidence, context);
  yield head(report);
  yield coverHtml(report.cover);
  yield contents(report.sections);
  for (const section of report.sections) yield* sectionHtml(section);
  yield `</main>\n<footer><p>Package <code>${text(report.packageId)}</code>, ${text(report.producer)}</p></footer>\n</body>\n</html>\n`;
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

function coverHtml({ kicker, title, subtitle, verdict, completeness, bars, facts }: Cover): string {
  const open = verdict.open === null ? '' : `<p><strong>${text(verdict.open.heading)}</strong></p>\n${list(verdict.open.items)}`;
  return `<header>
<p class="kicker">${text(kicker)}</p>
<h1>${bidi(title)}</h1>
<p class="quiet">${bidi(subtitle)}</p>
</header>
<section class="verdict ${verdict.tone}" aria-labelledby="conclusion">
<h2 id="conclusion">${text(verdict.headline)}</h2>
<p class="lead">${text(verdict.sentence)}</p>
${list(verdict.reasons)}${open}</section>
<section class="completeness" aria-labelledby="completeness">
<p class="grade ${completeness.tone}" aria-hidden="true">${text(completeness.grade)}</p>
<div><h2 id="completeness">Completeness: grade ${text(completeness.grade)}. ${text(completeness.sentence)}</h2>
${list(completeness.gaps)}</div>
</section>
<div class="charts">
${bars.map(chartHtml).join('')}</div>
${factsHtml(facts)}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>\n${items.map((item) => `<li>${bidi(item)}</li>\n`).join('')}</ul>\n`;
}

/** Isolates the writing direction of text that users wrote. */
const bidi = (value: string): string => `<bdi>${text(value)}</bdi>`;

function chartHtml({ caption, bars }: BarChart): string {
  if (bars.length === 0) return '';
  const most = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(
    ({ label, value, tone }) =>
      `<tr><th scope="row">${text(label)}</th><td><meter class="${tone}" min="0" max="${most}" value="${value}" aria-hidden="true"></meter> ${value.toLocaleString('en-US')}</td></tr>\n`,
  );
  return `<table class="chart"><caption>${text(caption)}</caption>\n<tbody>\n${rows.join('')}</tbody></table>\n`;
}

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

function* tableHtml({ heading, caption, columns, rows }: Table): Generator<string> {
  if (heading !== null) yield `<h3>${text(heading)}</h3>\n`;
  const heads = columns.map((column) => `<th scope="col" class="w${column.share}">${text(column.heading)}</th>`).join('');
  yield `<div class="scroll" role="region" aria-label="${text(caption)}, table" tabindex="0"><table>\n<caption class="visually-hidden">${text(caption)}</caption>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n`;
  for (const { anchor, cells } of rows) {
    const id = anchor === null ? '' : ` id="${text(anchor)}"`;
    yield `<tr${id}>${cells.map((lines) => `<td>${lines.map(lineHtml).join('')}</td>`).join('')}</tr>\n`;
  }
  yield '</tbody></table></div>\n';
}

function lineHtml({ text: value, as }: Line): string {
  return as === 'plain' ? `<div>${bidi(value)}</div>` : `<div class="${as}">${bidi(value)}</div>`;
}
