import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Client, Import, ImportChangeKind, ListedFinding } from '@rrs/client';
import { choiceOf, choicesOf, flagOf, listOf, textOf } from '../arguments.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { FILTER_OPTIONS, type Filter, filterOf, isEmpty } from '../findings-filter.ts';
import { GATE_FORMATS, render, type Verdict } from '../gate-formats.ts';
import { waitForImport } from '../imports.ts';
import { lastImports } from '../settings.ts';

const REASONS = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'] as const;
type Reason = (typeof REASONS)[number];

const NEW: readonly ImportChangeKind[] = ['created', 'reopened'];
const SHOWN: readonly ImportChangeKind[] = [...NEW, 'updated', 'unchanged'];
/** Imports of more assets are compared with the whole list, which then takes fewer requests. */
const MOST_ASSETS = 20;

/** What still has to be done. Accepted risks and false positives are decided, verified findings are gone. */
const UNDECIDED = ['open', 'in_progress'] as const;
/** A pull request can show what is closed again. Compared with another track, only that is closed, and the pull request does not change its status. */
const ADDED = [...UNDECIDED, 'verified', 'withdrawn'] as const;

export const gate: Command = {
  arguments: '[IMPORT…]',
  options: {
    'fail-on': { type: 'string', multiple: true, value: 'LIST', help: `What fails: ${REASONS.join(', ')}. Default: critical,high,kev.`, choices: REASONS },
    'new-only': { type: 'boolean', help: 'Only findings that the imports created or reopened. With --base: that the base track does not have.' },
    base: { type: 'string', value: 'TRACK', help: 'Track to compare with, such as main. Implies --new-only.' },
    format: { type: 'string', value: 'FORMAT', help: `How to print the result: ${GATE_FORMATS.join(', ')}. Default: table.`, choices: GATE_FORMATS },
    output: { type: 'string', multiple: true, value: 'FORMAT=FILE', help: 'Also write the result to a file, such as sarif=gate.sarif.' },
    json: { type: 'boolean', help: 'The same as --format json.' },
    ...FILTER_OPTIONS,
  },
  examples: [
    'rrs import trivy.json --track main && rrs gate',
    'rrs import trivy.json --track pr-17 && rrs gate --new-only --base main',
    'rrs gate --fail-on critical,kev --new-only',
    'rrs gate --asset shop --track main --format sarif > gate.sarif',
  ],
  exitStatus: '0 passed, 1 failed, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const failOn = choicesOf(call, 'fail-on', REASONS);
    const format = choiceOf(call, 'format', GATE_FORMATS) ?? (flagOf(call, 'json') ? 'json' : 'table');
    const outputs = outputsOf(call);
    const considered = consideredBy(call);
    const found = await findingsOf(call.client(), considered);
    const reasons: readonly Reason[] = failOn.length > 0 ? failOn : ['critical', 'high', 'kev'];
    const failing = found.filter((finding) => reasons.includes(finding.severity) || (reasons.includes('kev') && finding.kev.listed));
    const verdict: Verdict = { passed: failing.length === 0, considered: found.length, failing, reasons, url: call.url() };
    call.terminal.out(render(format, verdict, call.terminal));
    const plain = { ...call.terminal, color: false, width: Number.POSITIVE_INFINITY };
    for (const { as, file } of outputs) await writeOutput(call, file, render(as, verdict, plain));
    return verdict.passed ? EXIT.ok : EXIT.failed;
  },
};

interface Considered {
  imports: readonly string[];
  filter: Filter;
  newOnly: boolean;
  base: string | undefined;
}

function consideredBy(call: Call): Considered {
  const [filter, base, named] = [filterOf(call), textOf(call, 'base'), [...call.positionals]];
  const newOnly = flagOf(call, 'new-only') === true || base !== undefined;
  const imports = named.length > 0 || !isEmpty(filter) ? named : lastImports(call.env, call.folder);
  if (imports.length === 0 && isEmpty(filter))
    throw new UsageError('There is nothing to decide on. Run "rrs import" in this folder first, name imports, or add a filter.');
  if (imports.length === 0 && newOnly && base === undefined)
    throw new UsageError('--new-only needs imports or --base. Run "rrs import" first, name imports, or name the track to compare with.');
  return { imports, filter, newOnly, base };
}

/** Each finding once, those with the highest risk first. */
async function findingsOf(client: Client, { imports, filter, newOnly, base }: Considered): Promise<ListedFinding[]> {
  const found = new Map<string, ListedFinding>();
  const add = async (query: Filter, isShown: (id: string) => boolean = () => true): Promise<void> => {
    const asked = { ...filter, ...query };
    const status = asked.track !== undefined && asked.new_since_track !== undefined ? ADDED : UNDECIDED;
    for await (const finding of client.list('listFindings', { query: { status: [...status], ...asked, limit: 200 } }))
      if (isShown(finding.id)) found.set(finding.id, finding);
  };
  if (imports.length === 0) await add(base === undefined ? {} : { new_since_track: base });
  for (const id of imports) {
    const { scan_scope, counts } = await finished(client, id);
    // What only a pull request has is listed with its track alone. What it has in common with the main branch is not on its track.
    const places: Filter[] = [{}, ...(scan_scope.track === undefined ? [] : [{ track: [scan_scope.track] }])];
    // On the base track itself, new is what the import brought.
    const compared = base !== undefined && scan_scope.track !== undefined && scan_scope.track !== base ? { new_since_track: base } : {};
    const isCompared = 'new_since_track' in compared;
    const shown = await shownBy(client, id, newOnly && !isCompared ? NEW : SHOWN);
    const ids = new Set([...shown.values()].flat());
    // A gate that does not know what to decide on must not pass.
    if ((!newOnly || isCompared) && counts.unchanged > 0 && ids.size <= counts.created + counts.updated + counts.reopened)
      throw new UsageError(
        `Import ${id} also saw findings that did not change, but a later scan replaced it, so the service no longer knows which. Use the later import, --new-only, or a filter.`,
      );
    const assets: Filter[] = shown.size > MOST_ASSETS ? [{}] : [...shown.keys()].map((asset_id) => ({ asset_id }));
    for (const asset of assets) for (const place of places) await add({ ...place, ...compared, ...asset }, (finding) => ids.has(finding));
  }
  return [...found.values()].sort((a, b) => b.risk_score - a.risk_score);
}

/** An import that failed, or that a person has to confirm, says nothing about what is there. */
async function finished(client: Client, id: string): Promise<Import> {
  const done = await waitForImport(client, await client.call('getImport', { path: { id } }));
  if (done.dry_run) throw new UsageError(`Import ${id} is a dry run, which changes nothing. Import the report without --dry-run.`);
  if (done.status === 'failed') throw new UsageError(`Import ${id} failed: ${done.error} Import the report again.`);
  return done;
}

/** The findings that an import shows, by asset. */
async function shownBy(client: Client, id: string, kinds: readonly ImportChangeKind[]): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for await (const { asset, finding_id } of client.list('listImportChanges', { path: { id }, query: { kind: [...kinds], limit: 200 } })) {
    const ids = shown.get(asset.id);
    if (ids === undefined) shown.set(asset.id, [finding_id]);
    else ids.push(finding_id);
  }
  return shown;
}

function outputsOf(call: Call): { as: (typeof GATE_FORMATS)[number]; file: string }[] {
  return listOf(call, 'output').map((text) => {
    const [, name, file = ''] = /^(\w+)=(.+)$/.exec(text) ?? [];
    const as = GATE_FORMATS.find((one) => one === name);
    if (as === undefined)
      throw new UsageError(`--output needs a format and a file, such as sarif=gate.sarif, not "${text}". Formats: ${GATE_FORMATS.join(', ')}.`);
    return { as, file };
  });
}

async function writeOutput({ folder }: Call, output: string, text: string): Promise<void> {
  await writeFile(resolve(folder, output), text).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${output} cannot be written (${error.code}). Choose another file with --output.`);
  });
}
