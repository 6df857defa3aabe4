import { type ReportEntry, ReportError } from '../../contract.ts';
import { isObj } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { type Fields, fields, moment } from './fields.ts';
import { assetOf } from './record.ts';

const SCAN_FIELDS = { asset: fields.asset, tool: fields.tool, tool_version: fields.version, started_at: moment, finished_at: moment };

/** What the author states about the run. An asset without findings is covered only if it is stated here. */
export function* readScan(scan: unknown): Generator<ReportEntry> {
  if (!isObj(scan)) throw new ReportError('scan must be an object.');
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(scan)) {
    if (value === null) continue;
    const field = Object.hasOwn(SCAN_FIELDS, name) ? SCAN_FIELDS[name as keyof typeof SCAN_FIELDS] : undefined;
    if (!field) throw new ReportError(`scan has the unknown field ${name}. Allowed fields: ${Object.keys(SCAN_FIELDS).join(', ')}.`);
    own[name] = field.read(value);
    if (own[name] === undefined) throw new ReportError(`scan.${name} must be ${field.expected}.`);
  }
  const { asset, tool: _, ...facts } = own as { asset?: Fields['asset']; tool?: string; tool_version?: string; started_at?: Date; finished_at?: Date };
  yield* runEntry(facts);
  if (asset) yield* runEntry({ asset: assetOf({ asset }) });
}
