import { Link } from '@tanstack/react-router';
import { useApi } from '../../../../api/client.ts';
import { Copy } from '../../../../parts/copy.tsx';
import { SeverityChip } from '../../../../parts/severity.tsx';
import { SimpleTable } from '../../../../parts/simple-table.tsx';
import { StatusMark } from '../../../../parts/status.tsx';
import { count, term } from '../../../../parts/words.ts';
import css from '../item-page.module.css';
import { linesOf, type StateFinding } from './lines.ts';

const SHOWN = 100;

/** What a decision is about: in words, and line by line as its digest covers it. */
export function State({ itemId, label, digest, lines }: { itemId: string; label: string; digest: string; lines: readonly string[] }) {
  const { head, findings, unlinked, artifacts } = linesOf(lines);
  const linked = useApi('listWorkItemFindings', { path: { id: itemId }, query: { limit: SHOWN, state: 'all' } });
  const titles = new Map(linked.data?.data.map(({ finding_id, title }) => [finding_id, title]));
  const present = artifacts.filter(({ removed }) => !removed).length;
  return (
    <>
      <p>
        “{head?.title}”: {count(findings.length, 'finding')}
        {unlinked.length > 0 && `, ${unlinked.length} removed`}, {count(present, 'artifact')}. Four-eyes policy {head?.policy.four_eyes ? 'on' : 'off'}.{' '}
        <span className="dim">
          Digest <Copy text={digest} />
        </span>
      </p>
      {findings.length > 0 && (
        <SimpleTable
          label={`Findings, ${label}`}
          rows={findings.slice(0, SHOWN)}
          keyOf={({ id }) => id}
          columns={[
            {
              label: 'Finding',
              cell: ({ id }) => (
                <Link to="/findings/$id" params={{ id }}>
                  {titles.get(id) ?? <code>{id}</code>}
                </Link>
              ),
            },
            { label: 'State', cell: ({ state }) => <StatusMark status={state} /> },
            { label: 'Proven by', cell: (finding) => provenBy(finding) },
            { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
            {
              label: 'Decision',
              cell: ({ acceptance, justification }) => (acceptance ? acceptedBy(acceptance) : justification && term(justification)),
            },
          ]}
        />
      )}
      {findings.length > SHOWN && <p className="dim">The first {SHOWN} are shown. All are below.</p>}
      <details>
        <summary>All {lines.length} lines</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by key. */}
        <pre className={css.lines} tabIndex={0}>
          {lines.join('\n')}
        </pre>
      </details>
    </>
  );
}

const provenBy = ({ assurance, provenance }: StateFinding): string =>
  [assurance, provenance].flatMap((value) => (value === null ? [] : [term(value).toLowerCase()])).join(', ') || '–';

function acceptedBy({ owner, expires_at, compensating_control }: NonNullable<StateFinding['acceptance']>): string {
  const control = compensating_control === null ? 'no compensating control' : `compensating control: ${compensating_control}`;
  return `${owner}, until ${expires_at?.slice(0, 10) ?? 'no end'}, ${control}`;
}
