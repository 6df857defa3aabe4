/**
 * Character classes are listed here and not taken from the engine, because its Unicode version decides what `\p{}` and `\s` match, and the same
 * evidence must give the same bytes for ever.
 */
const WHITE = '\\t\\n\\v\\f\\r \\u{85}\\u{A0}\\u{1680}\\u{2000}-\\u{200A}\\u{2028}\\u{2029}\\u{202F}\\u{205F}\\u{3000}\\u{FEFF}';
const WHITES = new RegExp(`[${WHITE}]+`, 'gu');
const WHITE_ONLY = new RegExp(`^[${WHITE}]$`, 'u');

/** Scripts with joined letters need joiners, and emoji do. In Latin text, a joiner can only make two texts differ that look the same. */
const LATIN = '\\0-\\u{2FF}';
const JOINER = '[\\u{200C}\\u{200D}]';
const STRAY = `${JOINER}{2,}|(?<![^${LATIN}])${JOINER}|${JOINER}(?![^${LATIN}])`;
/** Controls, format characters except the two joiners, fillers that look empty, private use, and noncharacters. */
const HIDDEN = new RegExp(
  `${STRAY}|[${[
    '\\0-\\u{1F}\\u{7F}-\\u{9F}\\u{34F}\\u{600}-\\u{605}\\u{61C}\\u{6DD}\\u{70F}\\u{890}\\u{891}\\u{8E2}\\u{115F}\\u{1160}\\u{17B4}\\u{17B5}\\u{180B}-\\u{180F}',
    '\\u{200B}\\u{200E}\\u{200F}\\u{202A}-\\u{202E}\\u{2060}-\\u{206F}\\u{3164}\\u{E000}-\\u{F8FF}\\u{FDD0}-\\u{FDEF}\\u{FFA0}\\u{FFF0}-\\u{FFFB}\\u{FFFE}\\u{FFFF}',
    '\\u{110BD}\\u{110CD}\\u{13430}-\\u{1345F}\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E00FF}\\u{E01F0}-\\u{10FFFF}',
  ].join('')}]`,
  'gu',
);
/** Characters that `printable` removes or replaces by a space, although they take no space or break the line. */
const UNSEEN = /[\u{AD}\u{FEFF}\u{2028}\u{2029}]|(?<![^\0-\u{2FF}])[\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]/u;
const REMOVED = /\u{AD}|[\u{FE00}-\u{FE0F}]|[\u{E0100}-\u{E01EF}]/gu;
const MARK =
  '[\\u{300}-\\u{36F}\\u{483}-\\u{489}\\u{591}-\\u{5BD}\\u{610}-\\u{61A}\\u{64B}-\\u{65F}\\u{1AB0}-\\u{1AFF}\\u{1DC0}-\\u{1DFF}\\u{20D0}-\\u{20FF}\\u{FE20}-\\u{FE2F}]';
const STACKED = new RegExp(`(${MARK}{3})${MARK}+`, 'gu');
const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** Shown instead of characters that cannot or must not be shown. */
export const REPLACEMENT = '\u{FFFD}';

/**
 * Makes text that users wrote safe to show on one line. Threat: characters that reverse, hide or stack text could mislead the reader.
 * Joiners are kept between letters of scripts that need them. Variation selectors and soft hyphens are removed.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return oneLine(oneLine(text).replace(REMOVED, '').replace(HIDDEN, REPLACEMENT).replace(STACKED, `$1${REPLACEMENT}`));
}

/** Shows where text that programs read as well would mislead a reader. White space stays as it is. */
export function revealed(text: string): string {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, (character) => (WHITE_ONLY.test(character) ? character : REPLACEMENT));
}

/** Whether a name looks like another one, or like none, because of characters that nobody sees. */
export function hidesText(name: string): boolean {
  return !PLAIN.test(name) && (UNSEEN.test(name) || name.search(HIDDEN) !== -1);
}

/** The name without such characters. */
export function withoutHidden(name: string): string {
  const clean = PLAIN.test(name) ? name : oneLine(oneLine(name).replace(REMOVED, '').replace(HIDDEN, ''));
  // A joiner can be next to other characters then.
  return clean === name ? name : withoutHidden(clean);
}

/** One line without white space at either end. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(WHITES, ' ').replace(/^ | $/g, '');
}

/** Shortens long text. Cuts between code points. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text.slice(0, 2 * most + 2));
  return characters.length <= most && text.length <= 2 * most ? text : `${characters.slice(0, most).join('')}…`;
}
