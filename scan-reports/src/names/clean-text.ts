import { visible } from '../visible.ts';

const MAX_NAME = 1_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** True for printable ASCII with single spaces, which needs no cleaning. This is the fast path for nearly every name. */
function isPlain(text: string): boolean {
  return text.length <= 200 && /^[!-~]+(?: [!-~]+)*$/.test(text);
}

/** A text without control characters, and with an ellipsis where it was cut. */
export function truncate(text: string, length: number): string {
  if (isPlain(text) && text.length <= length) return text;
  const clean = text.replaceAll(CONTROL, '').trim();
  if (clean.length <= length) return clean.isWellFormed() ? clean : clean.toWellFormed();
  return `${clean.slice(0, length - 1).toWellFormed()}…`;
}

/** Cleans a name. Names are part of the identity key, so they are truncated without an ellipsis and white space is collapsed. */
export function name(text: string): string {
  if (isPlain(text)) return text;
  return visible(text.replaceAll(CONTROL, '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME).toWellFormed()).trim();
}
