import { type ReportEntry, ReportError, type ReportHead, type ReportInput } from '../../contract.ts';
import { textBytes } from '../../shared/input.ts';
import { cwesOf, record } from '../../shared/normalize.ts';
import { date } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { issueOf, type Rule } from './issue.ts';

const MAX_ROW = 4 * 1024 * 1024;

/** HTML of sonar-report has a table of issues and a table of rules. Rule descriptions may contain tables too. */
export function isHtmlReport(head: ReportHead): boolean {
  return /^\s*<(?:!doctype html|html)[\s>]/i.test(head.text) && /<(?:title|h1)>\s*SonarQube [^<]{0,200}Report\s*</i.test(head.text);
}

export async function* readHtml(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const rules = await readRules(input);
  const project = termOf(head.text, 'Application') ?? termOf(head.text, 'Project Name');
  const context = {
    asset: project ? { type: 'repository' as const, name: project } : null,
    rules,
    seen: date(termOf(head.text, 'Report Generated On')),
    isOfNewCode: false,
  };
  yield* runEntry({ finished_at: context.seen });
  yield* runEntry({ asset: context.asset });
  let columns: readonly string[] | null = null;
  let row = 0;
  for await (const piece of rowsOf(input)) {
    const names = headerOf(piece);
    if (names?.includes('Rule') && names.includes('Severity') && names.includes('Component')) columns = names.map((name) => name.toLowerCase());
    else if (/^[^<]*(?:<\/tbody>[^<]*)?<\/table/i.test(piece)) columns = null;
    else if (columns) {
      const cells = cellsOf(piece, 'td');
      const issue = Object.fromEntries(columns.map((name, index) => [name, cells[index]]));
      const place = `issue ${++row}`;
      yield* record(place, () => issueOf(issue, place, context));
    }
  }
}

async function readRules(input: ReportInput): Promise<Map<string, Rule>> {
  const rules = new Map<string, Rule>();
  let inRules = false;
  let current: Rule | null = null;
  for await (const piece of rowsOf(input)) {
    if (headerOf(piece)?.join() === 'Rule,Description') inRules = true;
    if (!inRules) continue;
    const [, key] = /<td>\s*<a\s+href="[^"]*coding_rules#rule_key=([^"]+)"/i.exec(piece) ?? [];
    if (key) {
      current = { name: undefined, text: undefined, cwes: [] };
      rules.set(decode(key), current);
    }
    if (current) current.cwes = [...new Set([...current.cwes, ...cwesOf(piece)])];
  }
  return rules;
}

/** Splits the file at the ends of table rows. */
async function* rowsOf(input: ReportInput): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of textBytes(input)) {
    const pieces = `${rest}${decoder.decode(chunk, { stream: true })}`.split(/<\/tr\s*>/i);
    rest = pieces.pop() ?? '';
    if (rest.length > MAX_ROW) throw new ReportError(`The file has a table row of more than ${MAX_ROW} characters.`);
    yield* pieces;
  }
  if (!/<\/html\s*>\s*$/i.test(rest)) throw new ReportError('The file is not complete: it ends inside the HTML.');
}

function headerOf(piece: string): string[] | null {
  return /<th[\s>]/i.test(piece) ? cellsOf(piece, 'th') : null;
}

function cellsOf(piece: string, name: 'td' | 'th'): string[] {
  const [, ...cells] = piece.split(new RegExp(`<${name}(?:\\s[^<>]{0,500})?>`, 'i'));
  return cells.map((cell) => {
    const end = cell.search(new RegExp(`</${name}\\b`, 'i'));
    return decode((end === -1 ? cell : cell.slice(0, end)).replaceAll(/<[^<>]{0,2000}>/g, '')).trim();
  });
}

/** Returns the value of a term in the definition list at the top. */
function termOf(text: string, term: string): string | undefined {
  const [, value = ''] = new RegExp(`<dt>\\s*${term}\\s*</dt>\\s*<dd>([^<]{0,1000})</dd>`, 'i').exec(text) ?? [];
  return decode(value).trim() || undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function decode(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(amp|lt|gt|quot|apos|nbsp));/gi, (_, decimal?: string, hexadecimal?: string, named?: string) =>
    named ? (ENTITIES[named.toLowerCase()] ?? '') : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal ?? '0', 16)),
  );
}
