import type { Client, ImportChangeKind, ListedFinding } from '@rrs/client';
import { choiceOf, choicesOf, flagOf } from '../arguments.ts';
import { type Command, EXIT, UsageError } from '../command.ts';
import { FILTER_OPTIONS, filterOf, isEmpty } from '../findings-filter.ts';
import { GATE_FORMATS, render, type Verdict } from '../gate-formats.ts';
import { lastImports } from '../settings.ts';

const REASONS = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'] as const;
type Reason = (typeof REASONS)[number];
type Query = ReturnType<typeof filterOf>;

const NEW: readonly ImportChangeKind[] = ['created', 'reopened'];
const SHOWN: readonly ImportChangeKind[] = [...NEW, 'updated', 'unchanged'];
/** Imports of more assets are compared with the whole list, which then takes fewer requests. */
const MOST_ASSETS = 20;

/** What still has to be done. Accepted risks and false positives are decided, verified findings are gone. */
const UNDECIDED = ['open', 'in_progress'] as const;

export const gate: Command = {
  arguments: '[IMPORT…]',
  options: {
    'fail-on': { type: 'string', multiple: true, value: 'LIST', help: `What fails: ${REASONS.join(', ')}. Default: critical,high,kev.`, choices: REASONS },
    'new-only': { type: 'boolean', help: 'Only findings that the imports created or reopened.' },
    format: { type: 'string', value: 'FORMAT', help: `How to print the result: ${GATE_FORMATS.join(', ')}. Default: table.`, choices: GATE_FORMATS },
    json: { type: 'boolean', help: 'The same as --format json.' },
    ...FILTER_OPTIONS,
  },
  examples: [
    'rrs import trivy.json --track main && rrs gate',
    'rrs gate --fail-on critical,kev --new-only',
    'rrs gate --asset shop --track main --format sarif > gate.sarif',
  ],
  exitStatus: '0 passed, 1 failed, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const failOn = choicesOf(call, 'fail-on', REASONS);
    const format = choiceOf(call, 'format', GATE_FORMATS) ?? (flagOf(call, 'json') ? 'json' : 'table');
    const filter = filterOf(call);
    const named = [...call.positionals];
    const hasFilter = !isEmpty(filter);
    const imports = named.length > 0 || hasFilter ? named : lastImports(call.env, call.folder);
    if (imports.length === 0 && !hasFilter)
      throw new UsageError('There is nothing to decide on. Run "rrs import" in this folder first, name imports, or add a filter.');
    if (imports.length === 0 && call.values['new-only']) throw new UsageError('--new-only needs imports. Run "rrs import" first, or name imports.');
    const client = call.client();
    const found = await findingsOf(client, { imports, filter, newOnly: flagOf(call, 'new-only') === true });
    const reasons: readonly Reason[] = failOn.length > 0 ? failOn : ['critical', 'high', 'kev'];
    const failing = found.filter((finding) => reasons.includes(finding.severity) || (reasons.includes('kev') && finding.kev.listed));
    const verdict: Verdict = { passed: failing.length === 0, considered: found.length, failing, reasons, url: call.url() };
    call.terminal.out(render(format, verdict, call.terminal));
    return verdict.passed ? EXIT.ok : EXIT.failed;
  },
};

interface Considered {
  imports: readonly string[];
  filter: Query;
  newOnly: boolean;
}

/** Each finding once, those with the highest risk first. */
async function findingsOf(client: Client, { imports, filter, newOnly }: Considered): Promise<ListedFinding[]> {
  const found = new Map<string, ListedFinding>();
  const add = async (query: Query, isShown: (id: string) => boolean = () => true): Promise<void> => {
    for await (const finding of client.list('listFindings', { query: { status: [...UNDECIDED], ...filter, ...query, limit: 200 } }))
      if (isShown(finding.id)) found.set(finding.id, finding);
  };
  if (imports.length === 0) await add({});
  for (const id of imports) {
    const { scan_scope, counts } = await client.call('getImport', { path: { id } });
    // What only a pull request has is listed with its track alone.
    const track = scan_scope.track === undefined ? {} : { track: [scan_scope.track] };
    const shown = await shownBy(client, id, newOnly ? NEW : SHOWN);
    const ids = new Set([...shown.values()].flat());
    // A gate that does not know what to decide on must not pass.
    if (!newOnly && counts.unchanged > 0 && ids.size <= counts.created + counts.updated + counts.reopened)
      throw new UsageError(
        `Import ${id} also saw findings that did not change, and the service does not know which. Use --new-only, --complete imports, or a filter.`,
      );
    if (shown.size > MOST_ASSETS) await add(track, (finding) => ids.has(finding));
    else for (const asset of shown.keys()) await add({ ...track, asset_id: asset }, (finding) => ids.has(finding));
  }
  return [...found.values()].sort((a, b) => b.risk_score - a.risk_score);
}

/** The findings that an import shows, by asset. */
async function shownBy(client: Client, id: string, kinds: readonly ImportChangeKind[]): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for await (const { asset, finding_id } of client.list('listImportChanges', { path: { id }, query: { kind: [...kinds], limit: 200 } }))
    shown.set(asset.id, [...(shown.get(asset.id) ?? []), finding_id]);
  return shown;
}
