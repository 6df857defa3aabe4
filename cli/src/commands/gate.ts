import type { Client, ListedFinding } from '@rrs/client';
import { type Command, choicesOf, EXIT, UsageError } from '../command.ts';
import { FILTER_OPTIONS, filterOf } from '../findings-filter.ts';
import { GATE_FORMATS, render, type Verdict } from '../gate-formats.ts';
import { lastImports } from '../settings.ts';

const REASONS = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'] as const;
type Reason = (typeof REASONS)[number];

/** What still has to be done. Accepted risks and false positives are decided, verified findings are gone. */
const UNDECIDED = ['open', 'in_progress'] as const;

export const gate: Command = {
  summary: 'Pass or fail on the findings of the last import, of named imports or of a filter',
  arguments: '[IMPORT…]',
  options: {
    'fail-on': { type: 'string', multiple: true, value: 'LIST', help: `What fails: ${REASONS.join(', ')}. Default: critical,high,kev.` },
    'new-only': { type: 'boolean', help: 'Only findings that the imports created or reopened.' },
    format: { type: 'string', value: 'FORMAT', help: `How to print the result: ${GATE_FORMATS.join(', ')}. Default: table.` },
    ...FILTER_OPTIONS,
  },
  examples: [
    'rrs import trivy.json --track main && rrs gate',
    'rrs gate --fail-on critical,kev --new-only',
    'rrs gate --asset shop --track main --format sarif > gate.sarif',
  ],
  async run(call) {
    const failOn = choicesOf(call, 'fail-on', REASONS);
    const [format = 'table'] = choicesOf(call, 'format', GATE_FORMATS);
    const filter = filterOf(call);
    const named = [...call.positionals];
    const hasFilter = Object.keys(filter).length > 0;
    const imports = named.length > 0 || hasFilter ? named : lastImports(call.env, call.folder);
    if (imports.length === 0 && !hasFilter) throw new UsageError('There is nothing to decide on. Run "rrs import" in this folder first, name imports, or add a filter.');
    if (imports.length === 0 && call.values['new-only']) throw new UsageError('--new-only needs imports. Run "rrs import" first, or name imports.');
    const client = call.client();
    const found = await findingsOf(client, { imports, filter, newOnly: call.values['new-only'] === true });
    const reasons: readonly Reason[] = failOn.length > 0 ? failOn : ['critical', 'high', 'kev'];
    const failing = found.filter((finding) => reasons.includes(finding.severity) || (reasons.includes('kev') && finding.kev.listed));
    const verdict: Verdict = { passed: failing.length === 0, considered: found.length, failing, reasons };
    call.terminal.out(render(format, verdict, call.terminal));
    return verdict.passed ? EXIT.ok : EXIT.failed;
  },
};

interface Considered {
  imports: readonly string[];
  filter: ReturnType<typeof filterOf>;
  newOnly: boolean;
}

/** Each finding once, those with the highest risk first. */
async function findingsOf(client: Client, { imports, filter, newOnly }: Considered): Promise<ListedFinding[]> {
  const found = new Map<string, ListedFinding>();
  const query = { status: [...UNDECIDED], ...filter, limit: 200 };
  if (imports.length === 0) for await (const finding of client.list('listFindings', { query })) found.set(finding.id, finding);
  for (const id of imports) {
    const fresh = newOnly ? await changedBy(client, id) : null;
    for await (const finding of client.list('listFindings', { query: { ...query, import_id: id } })) {
      if (fresh === null || fresh.has(finding.id)) found.set(finding.id, finding);
    }
  }
  return [...found.values()].sort((a, b) => b.risk_score - a.risk_score);
}

async function changedBy(client: Client, id: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { finding_id } of client.list('listImportChanges', { path: { id }, query: { kind: ['created', 'reopened'], limit: 200 } })) ids.add(finding_id);
  return ids;
}
