/** RFC 4180. What a spreadsheet would take for a formula is text: scanners repeat what attackers wrote. */
export function csvCell(value: string | number | boolean | null | readonly string[]): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.join('; ') : String(value);
  const harmless = typeof value !== 'number' && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
