import { Button } from '@mantine/core';
import { PlusIcon, SyncIcon } from '@primer/octicons-react';
import type { ResultOf } from '@rrs/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useCommands } from '../../keys/keys.ts';
import { useQueryString } from '../../lists/query.ts';
import { Tabs } from '../../lists/tabs.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { Page } from '../../parts/page.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { count, number, term } from '../../parts/words.ts';
import { kinds, useCatalog } from './catalog.ts';
import { NextRun } from './next-run.tsx';

type Health = ResultOf<'getIntegrationHealth'>['connections'][number];
const isActive = ({ sync_status }: Health): boolean => sync_status === 'queued' || sync_status === 'running';

export function IntegrationsPage() {
  const [query] = useQueryString();
  const health = useApi('getIntegrationHealth', {});
  const catalog = useCatalog();
  const mayManage = useMay('integrations:manage');
  const navigate = useNavigate();
  // Runs say how they end by event; while one is active, its numbers are asked for.
  useApi('getIntegrationHealth', {}, { refetchInterval: health.data?.connections.some(isActive) ? 2000 : false });
  useCommands(mayManage ? { create: () => void navigate({ to: '/integrations/new' }) } : {});
  const views = [{ label: 'All', query: {} }, ...Object.entries(kinds).map(([kind, label]) => ({ label, query: { kind } }))];
  const nameOf = (provider: string): string => catalog.data?.data.find(({ id }) => id === provider)?.name ?? provider;
  return (
    <Page
      title="Integrations"
      info={health.data && <span>{summaryOf(health.data.summary)}</span>}
      actions={
        <>
          <SyncAll hasAny={(health.data?.connections.length ?? 0) > 0} />
          {mayManage && (
            <Button leftSection={<PlusIcon size={14} />} onClick={() => void navigate({ to: '/integrations/new' })}>
              Connect
            </Button>
          )}
        </>
      }
      bar={<Tabs label="Kinds of connections" path="/integrations" views={views} query={query} />}
    >
      <ReadOnly permission="integrations:manage" to="add and change connections" />
      {query.status && (
        <p>
          Only those that are {term(query.status).toLowerCase()}. <Link to="/integrations">Show all connections</Link>
        </p>
      )}
      <Show query={health} rows={6}>
        {({ connections }) => (
          <Connections
            rows={connections.filter(
              ({ kind, status }) => (query.kind === undefined || kind === query.kind) && (query.status === undefined || status === query.status),
            )}
            nameOf={nameOf}
          />
        )}
      </Show>
    </Page>
  );
}

function summaryOf({ connections, by_status: { failing, degraded, stale }, runs_24h }: ResultOf<'getIntegrationHealth'>['summary']): string {
  const troubled = failing + degraded + stale;
  return [
    count(connections, 'connection'),
    ...(troubled > 0 ? [count(troubled, 'needs attention', 'need attention')] : []),
    `${count(runs_24h, 'run')} in 24 hours`,
  ].join(' · ');
}

function SyncAll({ hasAny }: { hasAny: boolean }) {
  const may = useMay('integrations:sync');
  const sync = useChange('syncAllConnections', ['getIntegrationHealth', 'listRuns', 'getConnection'], ({ queued }) =>
    announce(`${count(queued, 'run')} queued.`),
  );
  if (!may || !hasAny) return null;
  return (
    <Button
      variant="default"
      leftSection={<SyncIcon size={14} />}
      loading={sync.isPending}
      onClick={() => sync.mutate({}, { onError: (error) => announce(messageOf(error), { isBad: true }) })}
    >
      Sync all
    </Button>
  );
}

function Connections({ rows, nameOf }: { rows: readonly Health[]; nameOf: (provider: string) => string }) {
  const mayManage = useMay('integrations:manage');
  if (rows.length === 0)
    return (
      <Empty title="No connections" actions={mayManage && <Link to="/integrations/new">Choose a scanner, a data source or a ticketing system</Link>}>
        A connection fetches findings by itself, adds what is known about vulnerabilities, or keeps tickets in step with work items.
      </Empty>
    );
  return (
    <SimpleTable
      label="Connections"
      rows={rows}
      keyOf={({ connection_id }) => connection_id}
      columns={[
        {
          label: 'Connection',
          cell: ({ connection_id, name, provider, kind }) => (
            <>
              <div>
                <Link to="/integrations/$id" params={{ id: connection_id }}>
                  {name}
                </Link>
              </div>
              <div className="dim">
                {nameOf(provider)} · {kinds[kind]}
              </div>
            </>
          ),
        },
        { label: 'Health', cell: (row) => <StatusMark status={isActive(row) ? row.sync_status : row.status} /> },
        { label: 'Last run', cell: ({ last_run_at }) => <Time at={last_run_at} none="never" /> },
        { label: 'Next run', cell: ({ next_run_at }) => <NextRun at={next_run_at} /> },
        {
          label: 'Failed, 7 days',
          align: 'end',
          cell: ({ runs }) => (runs.last_7d.total === 0 ? <span className="dim">–</span> : `${number(runs.last_7d.failed)} of ${number(runs.last_7d.total)}`),
        },
        { label: 'Records', align: 'end', cell: ({ findings_seen, kind }) => (kind === 'scanner' ? number(findings_seen) : <span className="dim">–</span>) },
        {
          label: 'Notes',
          cell: ({ last_error, notes }) => {
            const text = last_error?.message ?? notes.join(' ');
            return (
              <span className={last_error ? 'bad clamped' : 'dim clamped'} title={text}>
                {text}
              </span>
            );
          },
        },
      ]}
    />
  );
}
