const LEVELS: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

/** What a person at a terminal reads instead of a JSON log line. */
export function readableLine(line: string): string {
  const { level, time, msg, err, ...fields }: Record<string, unknown> = JSON.parse(line);
  const words = [
    new Date(Number(time)).toISOString().slice(11, 19),
    (LEVELS[Number(level)] ?? String(level)).padEnd(5),
    ...(msg === undefined ? [] : [String(msg)]),
    ...Object.entries(fields).map(([name, value]) => `${name}=${shortValue(value)}`),
  ];
  return `${withoutControlCharacters(words.join(' '))}\n${stackOf(err)}`;
}

function shortValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const lines = 'stack' in error ? String(error.stack).split('\n') : [JSON.stringify(error)];
  return lines.map((line) => `  ${withoutControlCharacters(line)}\n`).join('');
}

/** Threat: a message can quote what a caller sent. Control characters would move the cursor or rewrite earlier lines. */
function withoutControlCharacters(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
