/** RFC 4180. Values that a spreadsheet would run as formulas are marked as text, because scanners repeat text that attackers control. The mark is one apostrophe more than the text has. */
export function csvCell(value: string | number | boolean | null | readonly string[]): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.join('; ') : String(value);
  const escaped = typeof value !== 'number' && /^'*[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
