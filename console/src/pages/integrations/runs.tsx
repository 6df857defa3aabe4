import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { count, number, term } from '../../parts/words.ts';
import type { Provider } from './catalog.ts';

export type Run = ResultOf<'getRun'>;

/** The latest runs, newest first. */
export function Runs({ id, isActive, kind }: { id: string; isActive: boolean; kind: Provider['kind'] }) {
  const runs = useApi('listRuns', { path: { id }, query: { limit: 20 } }, { refetchInterval: isActive ? 1000 : false });
  return (
    <Section title="Runs">
      <Show query={runs} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">{kind === 'ticketing' ? 'Nothing yet: work items whose tickets are here are checked every five minutes.' : 'No run yet.'}</p>
          ) : (
            <SimpleTable
              label="Runs"
              rows={data}
              keyOf={(run) => run.id}
              columns={[
                {
                  label: 'Started',
                  cell: (run) => (
                    <Link to="/integrations/$id/runs/$run" params={{ id, run: run.id }}>
                      <Time at={run.started_at ?? run.created_at} />
                    </Link>
                  ),
                },
                { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
                { label: 'By', cell: ({ requested_by, mode }) => `${requested_by}${mode === 'full' ? ', everything' : ''}` },
                { label: 'Result', cell: (run) => <Counts run={run} /> },
                {
                  label: 'Requests',
                  align: 'end',
                  cell: ({ requests }) => `${number(requests.made)}${requests.failed > 0 ? `, ${number(requests.failed)} failed` : ''}`,
                },
                {
                  label: 'Notes',
                  cell: ({ error, notes }) => (error ? <span className="bad">{error.message}</span> : <span className="dim">{notes.join(' ')}</span>),
                },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

const shown = ['created', 'updated', 'reopened', 'closed', 'unchanged', 'rejected', 'learned'] as const;

/** What came of a run, or how far it is. */
function Counts({ run: { status, counts, progress } }: { run: Run }) {
  if (status === 'queued' || status === 'running')
    return <span className="dim">{`${count(progress.pages, 'page')}, ${count(progress.records, 'record')}`}</span>;
  const parts = shown.flatMap((name) => (counts[name] > 0 ? [`${number(counts[name])} ${name === 'created' ? 'new' : term(name).toLowerCase()}`] : []));
  return <span className="dim">{parts.join(' · ') || 'Nothing changed'}</span>;
}
