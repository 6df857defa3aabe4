import { parseArgs } from 'node:util';
import { OPTIONS, main as verify } from '@rrs/verifier/cli';
import type { DeepFinding } from '../../evidence/deep/deep-check.ts';
import { type DeepReport, deepCheckFile } from '../../evidence/deep/deep-check-file.ts';
import { ChildFailure } from '../../jobs/children/child.ts';
import { version } from '../log.ts';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  color: boolean;
}

const HEAP_MB = 2048;
const MAX_LISTED = 50;
const EXIT = { contradicted: 1, usage: 2 } as const;

/** Does what rrs-verify does, and with --deep also reads the original scan reports and writes the PDF again. */
export async function verifyEvidence(args: string[], terminal: Terminal): Promise<number> {
  const rest = args.filter((argument) => argument !== '--deep');
  if (rest.length === args.length) return verify(rest, terminal);
  const pieces: string[] = [];
  const code = await verify(rest, { ...terminal, out: (text) => void pieces.push(text) });
  const printed = pieces.join('');
  // A package that failed is not read any further: nothing vouches for its reports.
  const { values, path } = code === EXIT.usage || code === EXIT.contradicted ? { path: undefined } : optionsIn(rest);
  if (path === undefined) {
    terminal.out(printed);
    return code;
  }
  const deep = await deepCheckFile({ path, version }, { heapMb: HEAP_MB, timeMs: Number(values['time-limit']) * 1000 }).catch((error: unknown) => {
    if (error instanceof ChildFailure) return `the deep check ${error.message} and was stopped`;
    throw error;
  });
  terminal.out(values.json ? withDeep(printed, deep) : `${printed}\n${deepText(deep)}`);
  const isRefused = typeof deep === 'string' || deep.pdf === 'different' || deep.findings.some(({ result }) => result === 'contradicted');
  return isRefused ? EXIT.contradicted : code;
}

/** No path with --help and --version. */
function optionsIn(args: string[]) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  return { values, path: positionals[0] };
}

function withDeep(json: string, report: DeepReport | string): string {
  const deep = typeof report === 'string' ? { error: report } : report;
  return `${JSON.stringify({ ...JSON.parse(json), deep }, null, 2)}\n`;
}

const RESULTS = [
  ['confirmed', 'confirmed by the original reports'],
  ['contradicted', 'CONTRADICTED by the original reports'],
  ['not_checkable', 'not checkable'],
] as const;

const PDF_RESULTS = {
  same: 'report.pdf is exactly what the evidence says',
  different: 'report.pdf is NOT what the evidence says',
  absent: 'the package has no report.pdf',
  other_version: 'report.pdf cannot be compared: another version of the service wrote it',
} as const;

function deepText(report: DeepReport | string): string {
  if (typeof report === 'string') return `Deep check\n  FAILED: ${report}.\n`;
  const { findings, pdf } = report;
  const lines = RESULTS.flatMap(([result, label]) => {
    const found = findings.filter((finding) => finding.result === result);
    if (found.length === 0 && result !== 'confirmed') return [];
    const listed = result === 'confirmed' ? [] : found.slice(0, MAX_LISTED).flatMap(linesOf);
    const more = result !== 'confirmed' && found.length > MAX_LISTED ? [`    … and ${found.length - MAX_LISTED} more. Use --json to list all of them.`] : [];
    return [`  ${found.length} of ${findings.length} findings: ${label}`, ...listed, ...more];
  });
  return `${['Deep check', ...lines, `  ${PDF_RESULTS[pdf]}`].join('\n')}\n`;
}

function linesOf({ id, title, reasons }: DeepFinding): string[] {
  return [`    ${plain(title)} (${plain(id)})`, ...reasons.map((reason) => `      ${plain(reason)}`)];
}

/** Titles and positions come from reports. They must not contain terminal escape sequences or change the text direction. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}
