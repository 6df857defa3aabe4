import { Button } from '@mantine/core';
import type { LinkedFinding, WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { Section } from '../../../parts/page.tsx';
import { SeverityChip } from '../../../parts/severity.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { term, utc } from '../../../parts/words.ts';
import { ReasonDialog } from './reason-dialog.tsx';

const SHOWN = 100;

/** The findings of the work item, and those that were removed from it. */
export function FindingsTab({ item }: { item: WorkItem }) {
  const linked = useApi('listWorkItemFindings', { path: { id: item.id }, query: { limit: SHOWN, state: 'linked' } });
  const former = useApi('listWorkItemFindings', { path: { id: item.id }, query: { limit: SHOWN, state: 'unlinked' } });
  const [removing, setRemoving] = useState<LinkedFinding | null>(null);
  const mayChange = item.may.change_findings === null;
  const all = (
    <Link to="/findings" search={{ work_item_id: item.id, sort: '-risk_score' }}>
      As a list of findings
    </Link>
  );
  return (
    <>
      <Section title="Findings" actions={all}>
        <Show query={linked} rows={6}>
          {({ data, page }) =>
            data.length === 0 ? (
              <Empty title="No findings" actions={<Link to="/findings">Go to findings</Link>}>
                {item.may.change_findings ?? 'Select findings in the list and press w to add them.'}
              </Empty>
            ) : (
              <>
                <Findings label="Findings" rows={data} {...(mayChange ? { onRemove: setRemoving } : {})} />
                {page.next_cursor !== null && (
                  <p className="dim">
                    The first {SHOWN} are shown. {all}
                  </p>
                )}
              </>
            )
          }
        </Show>
      </Section>
      {former.data && former.data.data.length > 0 && (
        <Section title="Removed findings">
          <Findings label="Removed findings" rows={former.data.data} />
        </Section>
      )}
      {removing && <Remove item={item} finding={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function Findings({ label, rows, onRemove }: { label: string; rows: readonly LinkedFinding[]; onRemove?: (finding: LinkedFinding) => void }) {
  const isFormer = rows.some(({ unlinked_at }) => unlinked_at !== null);
  return (
    <SimpleTable
      label={label}
      rows={rows}
      keyOf={({ finding_id, linked_at }) => `${finding_id} ${linked_at}`}
      columns={[
        { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
        { label: 'Risk', cell: ({ risk_score }) => Math.round(risk_score) },
        {
          label: 'Finding',
          cell: ({ finding_id, title, asset, linked_at, linked_by }) => (
            <>
              <Link to="/findings/$id" params={{ id: finding_id }}>
                {title}
              </Link>
              <div className="dim" title={`Added by ${linked_by}, ${utc(linked_at)}`}>
                {asset.name}
              </div>
            </>
          ),
        },
        { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
        { label: 'Proven by', cell: ({ assurance }) => (assurance === null ? <span className="dim">–</span> : term(assurance)) },
        ...(isFormer
          ? [
              {
                label: 'Removed',
                cell: ({ unlinked_at, unlinked_by, unlink_reason }: LinkedFinding) => (
                  <span className="dim">
                    <Time at={unlinked_at} /> by {unlinked_by}
                    {unlink_reason === null ? '' : `: ${unlink_reason}`}
                  </span>
                ),
              },
            ]
          : []),
        ...(onRemove
          ? [
              {
                label: 'Action',
                isLabelHidden: true as const,
                align: 'end' as const,
                cell: (finding: LinkedFinding) => (
                  <Button variant="subtle" size="compact-xs" aria-label={`Remove ${finding.title}`} onClick={() => onRemove(finding)}>
                    Remove
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function Remove({ item, finding, onClose }: { item: WorkItem; finding: LinkedFinding; onClose: () => void }) {
  const remove = useChange('removeWorkItemFinding', ['getWorkItem', 'listWorkItemFindings', 'listWorkItemTimeline', 'listWorkItems', 'getFinding'], () => {
    announce('The finding is no longer part of the work item.');
    onClose();
  });
  return (
    <ReasonDialog
      title={`Remove: ${finding.title}`}
      action="Remove the finding"
      onClose={onClose}
      onSubmit={(reason) => remove.mutate({ path: { id: item.id, finding_id: finding.finding_id }, query: { reason } })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      The finding itself does not change. That it was removed, and why, stays visible in the evidence.
    </ReasonDialog>
  );
}
