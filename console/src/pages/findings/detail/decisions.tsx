import type { Finding } from '@rrs/client';
import { lazy, Suspense } from 'react';
import { Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { day, term } from '../../../parts/words.ts';
import { isRequested } from '../triage/verbs.ts';
import css from './finding-detail.module.css';

const Requested = lazy(async () => ({ default: (await import('./requested.tsx')).Requested }));

/** Accepted risks and false positives: who decided, until when, and what waits for a second person. */
export function Decisions({ finding }: { finding: Finding }) {
  if (finding.decisions.length === 0) return null;
  // An accepted risk can wait for its extension.
  const request = finding.decisions.find(isRequested);
  return (
    <Section title="Decisions">
      <Suspense>{request && <Requested finding={finding} request={request} />}</Suspense>
      <ul className={css.list}>
        {finding.decisions.map((decision) => (
          <li key={decision.id}>
            <strong>{term(decision.kind)}</strong>, {decision.state}: {decision.reason ?? term(decision.justification ?? '')}
            {decision.compensating_control && <div>Compensating control: {decision.compensating_control}</div>}
            <div className="dim">
              {decision.decided_by?.name ?? 'Unknown'} · <Time at={decision.requested_at} />
              {decision.approved_by && <> · approved by {decision.approved_by.name}</>}
              {decision.expires_at && <> · ends {day(decision.expires_at)}</>}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
