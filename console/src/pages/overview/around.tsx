import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readOf, useApi } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Section } from '../../parts/page.tsx';
import { count, number, term } from '../../parts/words.ts';
import { Numbers } from './numbers.tsx';

const workStatuses = ['open', 'in_progress', 'blocked', 'awaiting_verification'] as const;

/** Work items by where they are. */
export function Work() {
  const may = useMay('work_items:read');
  const counts = useQueries({
    queries: workStatuses.map((status) => ({ ...readOf('listWorkItems', { query: { status: [status], limit: 1, total: 'exact' } }), enabled: may })),
  });
  if (counts.every(({ data }) => !data?.page.total?.count)) return null;
  return (
    <Section
      title="Work"
      actions={
        <Link to="/work" search={{}}>
          All
        </Link>
      }
    >
      <Numbers
        to="/work"
        rows={workStatuses.map((status, index) => ({
          label: term(status),
          value: number(counts[index]?.data?.page.total?.count ?? 0),
          search: { status },
        }))}
      />
    </Section>
  );
}

/** How much of the finished work is proven. */
export function Evidence() {
  const may = useMay('evidence:read');
  const { data } = useApi('getEvidenceStats', {}, { enabled: may });
  if (!data || data.work_items.closed === 0) return null;
  const { with_ready_package: proven, closed } = data.work_items;
  return (
    <Section title="Evidence" actions={<Link to="/evidence">All packages</Link>}>
      <Numbers
        to="/evidence"
        rows={[
          { label: `of ${count(closed, 'closed work item')} with a package`, value: number(proven) },
          { label: 'packages ready', value: number(data.by_status.ready), search: { status: 'ready' } },
        ]}
      />
    </Section>
  );
}

/** Imports that run, or wait for a person. */
export function Imports() {
  const may = useMay('imports:read');
  const query = { status: ['queued', 'running', 'needs_confirmation'] as const };
  const { data } = useApi('listImports', { query: { ...query, status: [...query.status], limit: 100 } }, { enabled: may });
  if (!data || data.data.length === 0) return null;
  const waiting = data.data.filter(({ status }) => status === 'needs_confirmation').length;
  const rows = [
    { label: 'running', value: data.data.length - waiting },
    { label: 'waiting for you', value: waiting },
  ];
  return (
    <Section title="Imports" actions={<Link to="/imports">All imports</Link>}>
      <Numbers rows={rows.flatMap(({ label, value }) => (value > 0 ? [{ label, value: number(value) }] : []))} />
    </Section>
  );
}

export function Connections() {
  const may = useMay('integrations:read');
  const health = useApi('getIntegrationHealth', {}, { enabled: may });
  if (!health.data || health.data.connections.length === 0) return null;
  const { by_status, runs_24h, failed_runs_24h } = health.data.summary;
  const states = Object.entries(by_status).flatMap(([status, value]) => (value > 0 ? [{ label: term(status), value: number(value), search: { status } }] : []));
  const runs = { label: failed_runs_24h === 0 ? 'runs in 24 hours' : `runs in 24 hours, ${number(failed_runs_24h)} failed`, value: number(runs_24h) };
  return (
    <Section title="Connections" actions={<Link to="/integrations">All connections</Link>}>
      <Numbers to="/integrations" rows={[...states, runs]} />
    </Section>
  );
}
