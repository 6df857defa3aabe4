import { styleText } from 'node:util';
import { CODES } from '../codes.ts';
import type { Failure, Layer, PackageSummary, Report } from '../report.ts';

type Color = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** Formats the report for a terminal. */
export function printReport(report: Report, { path, color }: { path: string; color: boolean }): string {
  const paint = (style: Color, text: string) => (color ? styleText(style, text, { validateStream: false }) : text);
  const sections = [
    verdictLines(report, path, paint),
    report.package === null ? [] : packageLines(report.package),
    ['Layers', ...report.layers.map((layer) => layerLine(layer, report.verdict, paint))],
    failureLines(report.failures, paint),
    report.notes.length === 0 ? [] : ['Notes', ...report.notes.map((note) => `  - ${plain(note)}`)],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

type Paint = (style: Color, text: string) => string;

const VERDICTS: Record<Report['verdict'], { word: string; color: Color; text: string }> = {
  verified: { word: 'VERIFIED', color: 'green', text: 'All checks passed, and the package is signed with keys that you trust.' },
  consistent: {
    word: 'CONSISTENT, BUT NOT PROVEN',
    color: 'yellow',
    text: 'The package is consistent, but anyone could have made it. Specify the trusted keys listed below. Get them from a source other than the package.',
  },
  failed: {
    word: 'FAILED',
    color: 'red',
    text: 'Do not rely on this package. Download it again from its original source and check that you use the right keys. If it still fails, contact its publisher.',
  },
};

const SIGNED =
  'The package is signed with a key that you trust, but not every layer is proven. Specify the trusted keys or certificates listed below. Get them from a source other than the package.';

function verdictLines({ verdict, layers }: Report, path: string, paint: Paint): string[] {
  const { word, color, text } = VERDICTS[verdict];
  const isSigned = layers.some(({ name, result }) => name === 'signature' && result === 'pass');
  return [`${paint(color, word)}  ${plain(path)}`, verdict === 'consistent' && isSigned ? SIGNED : text];
}

function packageLines(summary: PackageSummary): string[] {
  const { work_item: item, organization, supersedes, log, keys } = summary;
  const gaps = summary.gaps.map((gap) => `                ${gap.weight}: ${gap.what} (${gap.code})`);
  const rows: [string, string | null][] = [
    ['Conclusion', `${summary.conclusion}${summary.reasons.length > 0 ? `: ${summary.reasons.join(' ')}` : ''}`],
    [
      'Completeness',
      `grade ${summary.grade}${summary.gaps.length === 0 ? ', no gaps' : `, ${summary.gaps.length} gap${summary.gaps.length === 1 ? '' : 's'}:`}`,
    ],
    ['Work item', `${item.title} (${item.id})`],
    ['Organization', `${organization.name} (${organization.id})`],
    ['Package', `${summary.id}, number ${summary.sequence} of its work item, ${summary.files} files, ${summary.bytes} bytes`],
    ['Replaces', supersedes === null ? null : `number ${supersedes.sequence} (${supersedes.package_id})`],
    ['Generated', summary.generated_at],
    [
      'Stamped',
      summary.timestamps.length === 0
        ? null
        : summary.timestamps.map(({ time, authority, trusted }) => `${time} by ${authority}${trusted ? '' : ' (not trusted)'}`).join('; '),
    ],
    ['Log', log === null ? null : `${log.origin}, index ${log.index} of ${log.size} entries, root ${log.root}`],
    ['Signed by', keys.package],
    ['Log keys', [keys.log, keys.note].filter((key) => key !== null).join(', ') || null],
  ];
  return rows.flatMap(([label, value]) => {
    if (value === null) return [];
    const line = `${label.padEnd(14)}${plain(value)}`;
    return label === 'Completeness' ? [line, ...gaps.map(plain)] : [line];
  });
}

const RESULTS: Record<Layer['result'], { word: string; color: Color }> = {
  pass: { word: 'pass', color: 'green' },
  fail: { word: 'FAIL', color: 'red' },
  not_present: { word: 'absent', color: 'dim' },
  not_checked: { word: 'not proven', color: 'yellow' },
};

/** Options that supply what a layer needs to be proven. */
const OPTIONS: Partial<Record<Layer['name'], string>> = { signature: '--key or --keys', log: '--log-key and --note-key, or --keys', time: '--tsa-root' };

function layerLine({ name, result, detail }: Layer, verdict: Report['verdict'], paint: Paint): string {
  const { word, color } = RESULTS[result];
  const option = verdict === 'consistent' && result === 'not_checked' ? OPTIONS[name] : undefined;
  return `  ${paint(color, word.padEnd(11))}${name.replace('_', ' ').padEnd(12)}${plain(detail)}${option === undefined ? '' : ` (use ${option})`}`;
}

const MAX_LISTED_FAILURES = 50;

function failureLines(failures: Failure[], paint: Paint): string[] {
  if (failures.length === 0) return [];
  const lines = failures
    .slice(0, MAX_LISTED_FAILURES)
    .flatMap((failure) => [
      `  ${paint('red', failure.code)}  ${paint('bold', plain(failure.file))}`,
      `      ${CODES[failure.code].meaning}`,
      `      ${plain(failure.detail)}`,
      ...(failure.expected === undefined ? [] : [`      expected ${plain(failure.expected)}`]),
      ...(failure.actual === undefined ? [] : [`      found    ${plain(failure.actual)}`]),
    ]);
  const rest = failures.length - MAX_LISTED_FAILURES;
  return ['Failures', ...lines, ...(rest > 0 ? [`  … and ${rest} more. Use --json to list all of them.`] : [])];
}

/** Names and titles come from the package. They must not contain terminal escape sequences or change the text direction. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
}
