import { Button } from '@mantine/core';
import type { Approval, WorkItem } from '@rrs/client';
import { useState } from 'react';
import { useApi } from '../../../../api/client.ts';
import { Copy } from '../../../../parts/copy.tsx';
import { Section } from '../../../../parts/page.tsx';
import { Show } from '../../../../parts/states.tsx';
import { Time } from '../../../../parts/time.tsx';
import { term, utc } from '../../../../parts/words.ts';
import css from '../item-page.module.css';
import { DecideDialog } from './decide-dialog.tsx';
import { State } from './state.tsx';

/** Who approved or rejected the work, and exactly which state of it. */
export function ApprovalsTab({ item }: { item: WorkItem }) {
  const state = useApi('getWorkItemState', { path: { id: item.id } });
  const [deciding, setDeciding] = useState<Approval['decision'] | null>(null);
  const { approve, reject } = item.may;
  return (
    <>
      <Section
        title="Decisions"
        actions={
          <span className={css.buttons}>
            <Button disabled={approve !== null} onClick={() => setDeciding('approved')}>
              Approve
            </Button>
            <Button variant="default" disabled={reject !== null} onClick={() => setDeciding('rejected')}>
              Reject
            </Button>
          </span>
        }
      >
        {approve !== null && <p className="dim">{approve}</p>}
        {approve === null && state.data?.independent === false && (
          <p className="dim">You took part in this work. Your approval would not count as that of a second person.</p>
        )}
        {item.approvals.length === 0 ? (
          <p className="dim">Nobody has approved or rejected this work yet.</p>
        ) : (
          <ul className={css.list}>
            {item.approvals.map((approval) => (
              <Decision key={approval.id} item={item} approval={approval} current={state.data?.state_digest ?? null} />
            ))}
          </ul>
        )}
      </Section>
      <Section title="The state now">
        <Show query={state} rows={4}>
          {(data) => <State itemId={item.id} label="now" digest={data.state_digest} lines={data.lines} />}
        </Show>
      </Section>
      {deciding && <DecideDialog item={item} decision={deciding} onClose={() => setDeciding(null)} />}
    </>
  );
}

function Decision({ item, approval, current }: { item: WorkItem; approval: Approval; current: string | null }) {
  const [isOpen, setOpen] = useState(false);
  const state = useApi('getApprovedState', { path: { id: item.id, approval_id: approval.id } }, { enabled: isOpen, staleTime: Number.POSITIVE_INFINITY });
  return (
    <li>
      <div>
        <strong>{term(approval.decision)}</strong> by {approval.person?.name ?? approval.by.name} <Time at={approval.occurred_at} />
        {approval.comment !== null && <span> “{approval.comment}”</span>}
      </div>
      <div className="dim">
        {approval.independent ? 'A second person, with no part in the work' : 'Took part in the work'} · {term(approval.work_item_status)} at that time ·{' '}
        {current === null || current === approval.state_digest ? 'the state is the same now' : 'the state changed since'} ·{' '}
        <Copy text={approval.state_digest} />
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>What was {approval.decision}</summary>
        {isOpen && (
          <Show query={state}>
            {(data) => <State itemId={item.id} label={`${approval.decision} ${utc(approval.occurred_at)}`} digest={data.state_digest} lines={data.lines} />}
          </Show>
        )}
      </details>
    </li>
  );
}
