const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** Stands for what cannot, or must not, be shown as it is. */
export const REPLACEMENT = '\u{FFFD}';

/**
 * Text of others as one line that says what it holds: characters that turn, hide or pile up text could make a reader see something else.
 * Joiners stay, which some scripts need; selectors of emoji styles and soft hyphens go.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(/[\u{FE00}-\u{FE0F}\u{AD}]/gu, '')
    .replace(/(?![\u{200C}\u{200D}])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, REPLACEMENT)
    .replace(/(\p{M}{3})\p{M}+/gu, `$1${REPLACEMENT}`)
    .trim();
}
