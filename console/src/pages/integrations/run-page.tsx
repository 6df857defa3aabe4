import { Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { messageOf, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { bytes, count, number, term } from '../../parts/words.ts';
import { CONNECTION_READS } from './catalog.ts';
import type { Run } from './runs.tsx';

const isActive = (run: Run | undefined): boolean => run?.status === 'queued' || run?.status === 'running';

export function RunPage() {
  const { id = '', run: runId = '' } = useParams({ strict: false }) as { id?: string; run?: string };
  const path = { id, run_id: runId };
  const connection = useApi('getConnection', { path: { id } });
  const run = useApi('getRun', { path });
  useApi('getRun', { path }, { refetchInterval: isActive(run.data) ? 1000 : false });
  return (
    <Page
      title={`Run of ${connection.data?.name ?? 'a connection'}`}
      info={run.data && <StatusMark status={run.data.status} />}
      actions={run.data && <Decisions run={run.data} />}
    >
      <p>
        <Link to="/integrations/$id" params={{ id }}>
          All runs of the connection
        </Link>
      </p>
      <Show query={run} rows={8}>
        {(data) => <Details run={data} />}
      </Show>
    </Page>
  );
}

function Details({ run }: { run: Run }) {
  const { counts, requests, progress } = run;
  const isWaiting = run.status === 'needs_confirmation';
  // The first one is the question above.
  const notes = isWaiting ? run.notes.slice(1) : run.notes;
  const seconds = run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;
  return (
    <>
      {run.error && (
        <Section title="What went wrong">
          <p className="bad">{run.error.message}</p>
        </Section>
      )}
      {isWaiting && (
        <Section title="This run waits for you">
          <p>{run.notes[0]}</p>
          <p className="dim">So many at once often mean that the vendor did not list everything. Check that they are gone there, then decide.</p>
        </Section>
      )}
      <Section title="Result">
        <Facts
          rows={[
            ['Fetched', `${count(progress.pages, 'page')}, ${count(progress.records, 'record')}`],
            ...(['received', 'created', 'updated', 'reopened', 'unchanged', 'rejected', 'closed', 'learned'] as const).map(
              (name) => [name === 'created' ? 'New' : term(name), counts[name] > 0 || name === 'received' ? number(counts[name]) : null] as const,
            ),
            [
              'Import',
              run.import_id && (
                <Link key="import" to="/imports/$id" params={{ id: run.import_id }}>
                  Changes, rejected records and the stored file
                </Link>
              ),
            ],
          ]}
        />
      </Section>
      <Section title="Run">
        <Facts
          rows={[
            ['Started by', `${run.requested_by} (${term(run.trigger).toLowerCase()})`],
            ['Mode', run.mode === 'full' ? 'Everything: closes what is missing' : 'Changes since the previous run'],
            ['Queued', <Time key="queued" at={run.created_at} />],
            ['Started', <Time key="started" at={run.started_at} />],
            ['Finished', <Time key="finished" at={run.finished_at} />],
            ['Duration', seconds === null ? null : `${seconds.toFixed(1)} s`],
            ['Requests', `${number(requests.made)}, ${number(requests.failed)} failed, ${bytes(requests.bytes)} received`],
            ['Data as of', run.knowledge_as_of],
          ]}
        />
      </Section>
      {notes.length > 0 && (
        <Section title="Notes">
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** A run that would close unusually many findings waits for a person. One that is active can be cancelled. */
function Decisions({ run }: { run: Run }) {
  const may = useMay('integrations:sync');
  const path = { id: run.connection_id, run_id: run.id };
  const reads = [...CONNECTION_READS, 'listFindings', 'getFindingStats'] as const;
  const confirm = useChange('confirmRun', reads, () => announce('Confirmed. The findings are closed.'));
  const discard = useChange('discardRun', reads, () => announce('Discarded. Nothing was closed.'));
  const cancel = useChange('cancelRun', reads, () => announce('Cancelled.'));
  const complain = { onError: (error: unknown) => announce(messageOf(error), { isBad: true }) };
  if (!may) return null;
  if (isActive(run))
    return (
      <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate({ path }, complain)}>
        Cancel the run
      </Button>
    );
  if (run.status !== 'needs_confirmation') return null;
  return (
    <>
      <Button color="red" loading={confirm.isPending} onClick={() => confirm.mutate({ path }, complain)}>
        Confirm and close them
      </Button>
      <Button variant="default" loading={discard.isPending} onClick={() => discard.mutate({ path }, complain)}>
        Discard and keep them open
      </Button>
    </>
  );
}
