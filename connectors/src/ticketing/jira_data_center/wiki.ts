import { footerOf, workItemLine } from '../../core/tickets/text.ts';

/** Jira wiki markup. A backslash escapes the next character. Two backslashes are a line break, so a backslash is written as an entity. */

export function wiki(paragraphs: readonly string[]): string {
  return paragraphs.map(escaped).join('\n\n');
}

export function withWorkItem(paragraphs: readonly string[], url: string): string {
  return `${wiki(paragraphs)}\n\n${workItemLine(url)}`;
}

export function withFooterOf(paragraphs: readonly string[], before: unknown): string {
  return `${wiki(paragraphs)}\n\n${footerOf(typeof before === 'string' ? before : '')}`.trim();
}

function escaped(paragraph: string): string {
  return paragraph
    .split(/(https?:\/\/[^\s|\]{}]+)/)
    .map((part, index) => (index % 2 === 1 ? part : escapedPart(part)))
    .join('');
}

function escapedPart(text: string): string {
  return text.replaceAll(/[{}[\]*_^~|!\\]/g, (mark) => (mark === '\\' ? '&#92;' : `\\${mark}`)).replaceAll(/(^|\s)([-+?#])/g, '$1\\$2');
}
