import { styleText } from 'node:util';
import { REPLACEMENT, revealed } from '@rrs/evidence-format';
import { CODES } from '../codes.ts';
import type { Failure, Layer, PackageSummary, Report } from '../report.ts';
import { TAKEN_ON_TRUST } from '../taken-on-trust.ts';

type Color = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** Formats the report for a terminal. */
export function printReport(report: Report, { path, color, isSuperseded = false }: { path: string; color: boolean; isSuperseded?: boolean }): string {
  const paint = (style: Color, text: string) => (color ? styleText(style, text, { validateStream: false }) : text);
  const sections = [
    verdictLines(report, { path, isSuperseded }, paint),
    report.package === null ? [] : packageLines(report.package),
    ['Layers', ...report.layers.map((layer) => layerLine(layer, report.verdict, paint))],
    failureLines(report.failures, paint),
    report.notes.length === 0 ? [] : ['Notes', ...report.notes.map((note) => `  - ${plain(note)}`)],
    ['Taken on trust', ...report.taken_on_trust.map((code) => `  - ${code}: ${TAKEN_ON_TRUST[code]}`)],
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

const SUPERSEDED: (typeof VERDICTS)['verified'] = {
  word: 'VERIFIED, BUT SUPERSEDED',
  color: 'yellow',
  text: 'All checks passed, but the package is no longer current. The notes say why.',
};

const SIGNED =
  'The package is signed with a key that you trust, but not every layer is proven. Specify the trusted keys or certificates listed below. Get them from a source other than the package.';

function verdictLines({ verdict, layers, owner }: Report, { path, isSuperseded }: { path: string; isSuperseded: boolean }, paint: Paint): string[] {
  const { word, color, text } = isSuperseded ? SUPERSEDED : VERDICTS[verdict];
  const isSigned = layers.some(({ name, result }) => name === 'signature' && result === 'pass');
  return [`${paint(color, word)}  ${plain(path)}`, ...ownerLines(owner), verdict === 'consistent' && isSigned ? SIGNED : text];
}

/** Comes first, because organizations of one service share its keys: a verified package may still be somebody else's. */
function ownerLines(owner: Report['owner']): string[] {
  if (owner === null) return [];
  const { organization, origin, expected } = owner;
  const whose = plain(`Belongs to ${organization.name} (organization ${organization.id}), log ${origin}.`);
  return expected ? [whose] : [whose, 'Check that this is the organization you expect, or use --organization or --origin.'];
}

function packageLines(summary: PackageSummary): string[] {
  const { work_item: item, supersedes, log, keys } = summary;
  const gaps = summary.gaps.map((gap) => `                ${gap.weight}: ${gap.what} (${gap.code})`);
  const rows: [string, string | null][] = [
    ['Conclusion', `${summary.conclusion}${summary.reasons.length > 0 ? `: ${summary.reasons.join(' ')}` : ''}`],
    [
      'Completeness',
      `grade ${summary.grade}${summary.gaps.length === 0 ? ', no gaps' : `, ${summary.gaps.length} gap${summary.gaps.length === 1 ? '' : 's'}:`}`,
    ],
    ['Work item', `${item.title} (${item.id})`],
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
    ['Witnesses', summary.witnesses.map(({ name, time, trusted }) => `${name} at ${time}${trusted ? '' : ' (not checked)'}`).join('; ') || null],
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
  return revealed(text).replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, REPLACEMENT);
}
