import { CheckCircleFillIcon, CircleIcon } from '@primer/octicons-react';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import css from './start-list.module.css';

/** The first steps, until all are done. */
export function StartList({ hasFindings }: { hasFindings: boolean | null }) {
  const triaged = useApi('listFindings', { query: { not_status: ['open'], limit: 1 } }, { enabled: hasFindings === true });
  const items = useApi('listWorkItems', { query: { limit: 1 } }, { enabled: hasFindings !== null });
  const connections = useApi('listConnections', { query: { limit: 1 } }, { enabled: hasFindings !== null });
  const evidence = useApi('getEvidenceStats', {}, { enabled: hasFindings !== null });
  if (
    hasFindings === null ||
    items.data === undefined ||
    connections.data === undefined ||
    evidence.data === undefined ||
    (hasFindings && triaged.data === undefined)
  )
    return null;
  const steps = [
    { label: 'Import a report, or drop one on any page', to: '/imports', isDone: hasFindings },
    { label: 'Connect a scanner', to: '/integrations/new', isDone: connections.data.data.length > 0 },
    { label: 'Triage a finding', to: '/findings', isDone: (triaged.data?.data.length ?? 0) > 0 },
    { label: 'Put findings into a work item (key w in the list)', to: '/findings', isDone: items.data.data.length > 0 },
    { label: 'Seal evidence of the work', to: '/work', isDone: evidence.data.total > 0 },
  ];
  // A connection is one of two ways to get findings.
  if (steps.every(({ to, isDone }) => isDone || to === '/integrations/new')) return null;
  return (
    <Section title="First steps">
      <ol className={css.steps}>
        {steps.map(({ label, to, isDone }) => (
          <li key={label} data-done={isDone || undefined}>
            {isDone ? <CheckCircleFillIcon aria-label="Done" /> : <CircleIcon aria-label="To do" />}
            {isDone ? <span>{label}</span> : <Link to={to}>{label}</Link>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
