import type { About, ReportHead, ReportInput } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { keysInList } from '../../detect.ts';
import { jsonRecords } from '../../json/documents.ts';
import { jsonValues } from '../../json/values.ts';
import { obj, str } from '../../shared/read.ts';
import { REQUIRED } from './fields.ts';

const MAX_TOOL = 200;

/**
 * The tool that the records name. Reports of different tools say nothing about each other's findings. Null: the records name several, or none. Empty: there
 * are no records, and `scan` does not name the tool either.
 */
export async function toolsIn(input: ReportInput, head: ReportHead, pattern: string | null): Promise<About['tools']> {
  const none = pattern === 'findings.*' && keysInList(head, 'findings')?.length === 0 ? [] : null;
  // Most reports name no tool. The first records show it, so that they are not read twice.
  if (!/\btool\b/i.test(head.text)) return none;
  const tools = new Set<string>();
  for await (const tool of pattern === null ? csvTools(input) : jsonTools(input, pattern)) {
    tools.add(tool.toLowerCase().slice(0, MAX_TOOL));
    if (tools.size > 1) return null;
  }
  return tools.size === 1 ? [...tools] : none;
}

async function* jsonTools(input: ReportInput, pattern: string): AsyncGenerator<string> {
  if (pattern === 'findings.*') for await (const { value } of jsonValues(input, [`${pattern}.tool`, 'scan.tool'])) yield* toolIn(value);
  else for await (const { value } of jsonRecords(input, pattern)) yield* toolIn(obj(value).tool);
}

async function* csvTools(input: ReportInput): AsyncGenerator<string> {
  for await (const { cells } of csvRows(input, REQUIRED, { nameOf: (cell) => cell.toLowerCase(), end: csvEnd() })) yield* toolIn(cells.tool);
}

function* toolIn(value: unknown): Generator<string> {
  const tool = str(value);
  if (tool !== undefined) yield tool;
}
