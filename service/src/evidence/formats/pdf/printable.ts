const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** Shown instead of characters that cannot or must not be shown. */
export const REPLACEMENT = '\u{FFFD}';

/**
 * Makes text that users wrote safe to show on one line. Threat: characters that reverse, hide or stack text could mislead the reader.
 * Joiners are kept because some scripts need them. Variation selectors and soft hyphens are removed.
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
