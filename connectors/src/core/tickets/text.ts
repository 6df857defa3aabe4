/** Converts plain text to the vendors' markup. No part of the text becomes markup, a mention or a command. */

const WORK_ITEM = 'Work item: ';
const SHORTENED = '[shortened, see the work item for the full text]';

/** For fields that accept one line of at most `maxLength` characters. */
export function oneLine(text: string, maxLength: number): string {
  return shortened(
    text
      .toWellFormed()
      .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
      .trim(),
    maxLength,
  );
}

function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text
    .slice(0, maxLength - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}

/** Removes control characters and cuts the paragraphs to the maximum length. */
export function fitParagraphs(paragraphs: readonly string[], maxLength: number): string[] {
  const fit: string[] = [];
  let left = maxLength - SHORTENED.length - 2;
  for (const paragraph of paragraphs) {
    const clean = cleaned(paragraph);
    if (clean === '') continue;
    if (clean.length > left) return [...fit, ...(left > 100 ? [shortened(clean, left)] : []), SHORTENED];
    fit.push(clean);
    left -= clean.length + 2;
  }
  return fit;
}

function cleaned(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .trim();
}

export function workItemLine(url: string): string {
  return `${WORK_ITEM}${url}`;
}

/** The text from the work item line on, which a new text must keep. */
export function footerOf(text: string): string {
  const at = text.lastIndexOf(WORK_ITEM);
  return at < 0 ? '' : text.slice(at);
}

export function isFooter(text: string): boolean {
  return text.startsWith(WORK_ITEM);
}

/** CommonMark. URLs are not escaped, so that they become links. */
export function markdown(paragraphs: readonly string[]): string {
  return paragraphs.map((paragraph) => paragraph.split('\n').map(markdownLine).join('  \n')).join('\n\n');
}

function markdownLine(line: string): string {
  return line
    .trim()
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 1 ? part : escapedMarkdown(part, index === 0)))
    .join('');
}

function escapedMarkdown(text: string, isStart: boolean): string {
  const escaped = text
    .replaceAll(/[\\`*_[\]<>&~|$]/g, '\\$&')
    // A word joiner keeps names and numbers from becoming mentions, which would notify people or add cross-references.
    .replaceAll(/(^|[^\p{L}\p{N}_])([@#!%])(?=[\p{L}\p{N}_])/gu, '$1$2\u2060');
  // Headings, lists, rules and GitLab commands such as /close are recognized at the start of a line.
  return isStart ? escaped.replace(/^([#+\-=:/]|\d+(?=[.)]))/, (mark) => (/^\d/.test(mark) ? `${mark}\\` : `\\${mark}`)) : escaped;
}

export function html(paragraphs: readonly string[]): string {
  return paragraphs.map((paragraph) => `<p>${escapedHtml(paragraph).replaceAll('\n', '<br>')}</p>`).join('');
}

function escapedHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
