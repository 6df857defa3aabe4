import { Button } from '@mantine/core';
import type { Artifact, WorkItem } from '@rrs/client';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { Copy } from '../../../parts/copy.tsx';
import { FileDrop } from '../../../parts/file-drop.tsx';
import { Section } from '../../../parts/page.tsx';
import { SafeLink } from '../../../parts/safe-link.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { bytes, term } from '../../../parts/words.ts';
import { AddProof } from './add-proof.tsx';
import { ReasonDialog } from './reason-dialog.tsx';

/** Files and links that document the work: pull requests, test results, screenshots. */
export function ProofTab({ item }: { item: WorkItem }) {
  const artifacts = useApi('listArtifacts', { path: { work_item_id: item.id }, query: { limit: 100 } });
  const may = useMay('evidence:manage');
  const [adding, setAdding] = useState<File | 'link' | null>(null);
  const [removing, setRemoving] = useState<Artifact | null>(null);
  return (
    <Section title="Proof">
      {may && (
        <FileDrop
          title="Drop a file that shows what was done"
          hint="such as a test result or a screenshot"
          action="Choose a file"
          onFiles={([file]) => setAdding(file ?? null)}
        >
          <Button variant="default" onClick={() => setAdding('link')}>
            Add a link
          </Button>
        </FileDrop>
      )}
      <Show query={artifacts} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No proof yet">A scan proves more than a file. A file proves more than a claim.</Empty>
          ) : (
            <Artifacts rows={data} {...(may ? { onRemove: setRemoving } : {})} />
          )
        }
      </Show>
      {adding !== null && <AddProof item={item} file={adding === 'link' ? null : adding} onClose={() => setAdding(null)} />}
      {removing && <Remove artifact={removing} onClose={() => setRemoving(null)} />}
    </Section>
  );
}

function Artifacts({ rows, onRemove }: { rows: readonly Artifact[]; onRemove?: (artifact: Artifact) => void }) {
  return (
    <SimpleTable
      label="Proof"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Title',
          cell: (artifact) => (
            <>
              <Name artifact={artifact} />
              {artifact.description !== null && <div className="dim">{artifact.description}</div>}
              {artifact.removed !== null && (
                <div className="dim">
                  Removed by {artifact.removed.by.name}: {artifact.removed.reason}
                </div>
              )}
              {artifact.superseded_by !== null && <div className="dim">Replaced by a later one</div>}
            </>
          ),
        },
        { label: 'Kind', cell: ({ type }) => term(type) },
        { label: 'Size', cell: ({ size }) => (size === null ? <span className="dim">link</span> : bytes(size)) },
        { label: 'SHA-256', cell: ({ sha256 }) => (sha256 === null ? null : <Copy text={sha256} />) },
        { label: 'Added', cell: ({ added_at, added_by }) => <span title={added_by.name}>{<Time at={added_at} />}</span> },
        ...(onRemove
          ? [
              {
                label: 'Action',
                isLabelHidden: true as const,
                align: 'end' as const,
                cell: (artifact: Artifact) =>
                  artifact.removed === null && (
                    <Button variant="subtle" size="compact-xs" aria-label={`Remove ${artifact.title}`} onClick={() => onRemove(artifact)}>
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

function Name({ artifact: { id, title, url, captured, removed } }: { artifact: Artifact }) {
  if (removed !== null) return <s>{title}</s>;
  if (captured)
    return (
      <a href={`/api/v1/riskops-evidence/artifacts/${id}/content`} download>
        {title}
      </a>
    );
  return url === null ? title : <SafeLink href={url}>{title}</SafeLink>;
}

function Remove({ artifact, onClose }: { artifact: Artifact; onClose: () => void }) {
  const remove = useChange('removeArtifact', ['listArtifacts', 'getWorkItemState', 'createEvidencePackage'], () => {
    announce('Removed.');
    onClose();
  });
  return (
    <ReasonDialog
      title={`Remove: ${artifact.title}`}
      action="Remove the proof"
      onClose={onClose}
      onSubmit={(reason) => remove.mutate({ path: { id: artifact.id }, query: { reason } })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      The content is erased unless a package was sealed with it. Later packages show that it was removed, and why.
    </ReasonDialog>
  );
}
