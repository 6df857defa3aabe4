import { Button } from '@mantine/core';
import { KebabHorizontalIcon, PencilIcon, SyncIcon } from '@primer/octicons-react';
import type { ResultOf } from '@rrs/client';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu } from '../../parts/layers/menu.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { messageOf, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { number } from '../../parts/words.ts';
import { CONNECTION_READS, type Connection, kinds, scheduleText, useCatalog } from './catalog.ts';
import { TestAnswer } from './form/test-answer.tsx';
import { InboundUrl } from './inbound-url.tsx';
import { NextRun } from './next-run.tsx';
import { Runs } from './runs.tsx';
import { Settings } from './settings.tsx';

const complain = (error: unknown): void => announce(messageOf(error), { isBad: true });
const isActive = (connection: Connection | undefined): boolean => connection?.sync_status === 'queued' || connection?.sync_status === 'running';

export function ConnectionPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const connection = useApi('getConnection', { path: { id } });
  const active = isActive(connection.data);
  // While a run is active, its numbers are asked for.
  useApi('getConnection', { path: { id } }, { refetchInterval: active ? 1000 : false });
  const health = useApi('getIntegrationHealth', {});
  const catalog = useCatalog();
  const test = useChange('testConnection', []);
  const provider = catalog.data?.data.find((each) => each.id === connection.data?.provider);
  const status = active ? connection.data?.sync_status : health.data?.connections.find(({ connection_id }) => connection_id === id)?.status;
  return (
    <Page
      title={connection.data?.name ?? 'Connection'}
      info={status && <StatusMark status={status} />}
      actions={
        connection.data && (
          <Actions connection={connection.data} onTest={() => test.mutate({ path: { id } }, { onError: complain })} isTesting={test.isPending} />
        )
      }
    >
      <ReadOnly permission="integrations:manage" to="change this connection" />
      {test.data && <TestAnswer answer={test.data} />}
      <Show query={connection} rows={8}>
        {(data) => (
          <>
            {data.last_run?.error && <p className="bad">{data.last_run.error.message}</p>}
            <Facts
              rows={[
                ['Provider', provider?.name ?? data.provider],
                ['Kind', kinds[data.kind]],
                ['Schedule', data.kind === 'ticketing' ? 'Every 5 minutes, if there are linked tickets' : scheduleText(data.schedule)],
                ['Last run', <Time key="last" at={data.last_run?.finished_at ?? data.last_run?.started_at} none="never" />],
                ['Next run', data.enabled ? <NextRun key="next" at={data.next_run_at} /> : 'Paused'],
                ...healthRows(health.data?.connections.find(({ connection_id }) => connection_id === id)),
                ['Connected by', data.created_by],
                [
                  'Findings',
                  data.kind === 'scanner' && (
                    <Link key="findings" to="/findings" search={{ connection_id: id, sort: '-risk_score' }}>
                      Findings of this connection
                    </Link>
                  ),
                ],
                ['Webhook', data.inbound_url && <InboundUrl key="inbound" url={data.inbound_url} provider={provider?.name ?? data.provider} />],
              ]}
            />
            <Runs id={id} isActive={active} kind={data.kind} />
            <Settings connection={data} provider={provider} />
          </>
        )}
      </Show>
    </Page>
  );
}

function healthRows(health: ResultOf<'getIntegrationHealth'>['connections'][number] | undefined): (readonly [string, React.ReactNode])[] {
  if (!health || health.runs.last_7d.total === 0) return [];
  const { runs, run_seconds, consecutive_failures, circuit, knowledge_as_of } = health;
  return [
    [
      'Runs, 7 days',
      `${number(runs.last_7d.total)}, ${number(runs.last_7d.failed)} failed${run_seconds.median === null ? '' : `, ${number(Math.round(run_seconds.median))} s each`}`,
    ],
    ['Failures in a row', consecutive_failures > 0 ? `${number(consecutive_failures)}${circuit === 'closed' ? '' : ', so it runs less often'}` : null],
    ['Data as of', knowledge_as_of],
  ];
}

interface ActionsProps {
  connection: Connection;
  onTest: () => void;
  isTesting: boolean;
}

function Actions({ connection: { id, enabled, kind, name, version, sync_status }, onTest, isTesting }: ActionsProps) {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const maySync = useMay('integrations:sync');
  const mayManage = useMay('integrations:manage');
  const sync = useChange('syncConnection', CONNECTION_READS, () => announce('The run is queued.'));
  const update = useChange('updateConnection', CONNECTION_READS, ({ enabled: isOn }) =>
    announce(isOn ? 'The connection runs again.' : 'The connection is paused.'),
  );
  const start = (full: boolean) => sync.mutate({ path: { id }, query: { full } }, { onError: complain });
  return (
    <>
      {maySync && kind !== 'ticketing' && (
        <Button leftSection={<SyncIcon size={14} />} loading={sync.isPending} disabled={!enabled || sync_status === 'running'} onClick={() => start(false)}>
          Sync now
        </Button>
      )}
      {mayManage && (
        <>
          <Button variant="default" loading={isTesting} onClick={onTest}>
            Test
          </Button>
          <Button variant="default" leftSection={<PencilIcon size={14} />} onClick={() => void navigate({ to: '/integrations/$id/edit', params: { id } })}>
            Edit
          </Button>
          <Menu
            target={
              <Button variant="default" aria-label="More actions">
                <KebabHorizontalIcon />
              </Button>
            }
            actions={[
              ...(kind === 'ticketing' ? [] : [{ label: 'Sync everything again', onChoose: () => start(true), isDisabled: !enabled }]),
              {
                label: enabled ? 'Pause' : 'Resume',
                onChoose: () => update.mutate({ path: { id }, header: { 'If-Match': `"${version}"` }, body: { enabled: !enabled } }, { onError: complain }),
              },
              { label: 'Delete', onChoose: () => setDeleting(true), isDangerous: true },
            ]}
          />
        </>
      )}
      {isDeleting && <Delete id={id} name={name} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Delete({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useChange('deleteConnection', ['listConnections', 'getIntegrationHealth'], () => {
    announce('The connection is deleted.');
    void navigate({ to: '/integrations' });
  });
  return (
    <Dialog
      title={`Delete ${name}`}
      action="Delete the connection"
      isDangerous
      onClose={onClose}
      onSubmit={() => remove.mutate({ path: { id } })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      <p>Its credentials are erased and an active run is cancelled. Its findings stay as they are.</p>
    </Dialog>
  );
}
