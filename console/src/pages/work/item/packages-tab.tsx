import { Button, Textarea } from '@mantine/core';
import type { WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { ConclusionMark, GradeMark } from '../../../parts/evidence.tsx';
import { Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { count } from '../../../parts/words.ts';
import { Preview } from './preview.tsx';
import { usePreview } from './use-preview.ts';

/** Sealed packages of the work item, and what one sealed now would state. */
export function PackagesTab({ item }: { item: WorkItem }) {
  const may = useMay('evidence:manage');
  const [isSealing, setSealing] = useState(false);
  const packages = useApi('listWorkItemEvidencePackages', { path: { work_item_id: item.id }, query: { limit: 50 } });
  const isRunning = packages.data?.data.some(({ status }) => status === 'generating') ?? false;
  useApi('listWorkItemEvidencePackages', { path: { work_item_id: item.id }, query: { limit: 50 } }, { refetchInterval: isRunning ? 1000 : false });
  return (
    <Section title="Evidence packages" actions={may && <Button onClick={() => setSealing(true)}>Seal a package</Button>}>
      <Show query={packages} rows={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No packages yet">
              A package is a signed file with the findings, scans, decisions and proof of this work item. Anybody can verify it without an account.
            </Empty>
          ) : (
            <SimpleTable
              label="Evidence packages"
              rows={data}
              keyOf={({ package_id }) => package_id}
              columns={[
                {
                  label: 'Package',
                  cell: ({ package_id, sequence }) => (
                    <Link to="/evidence/$id" params={{ id: package_id }}>
                      Package {sequence}
                    </Link>
                  ),
                },
                { label: 'Status', cell: ({ status, error }) => <span title={error ?? undefined}>{<StatusMark status={status} />}</span> },
                { label: 'Grade', cell: ({ completeness }) => completeness && <GradeMark grade={completeness.grade} /> },
                { label: 'Conclusion', cell: ({ conclusion }) => conclusion && <ConclusionMark conclusion={conclusion} /> },
                { label: 'Sealed', cell: ({ requested_at, generated_by }) => <span title={generated_by.name}>{<Time at={requested_at} />}</span> },
                { label: 'Note', cell: ({ note }) => <span className="dim">{note}</span> },
              ]}
            />
          )
        }
      </Show>
      {isSealing && <Seal item={item} onClose={() => setSealing(false)} />}
    </Section>
  );
}

/** Shows the grade and the gaps before anything is sealed. */
function Seal({ item, onClose }: { item: WorkItem; onClose: () => void }) {
  const preview = usePreview(item);
  const seal = useChange('createEvidencePackage', ['listWorkItemEvidencePackages', 'listEvidencePackages', 'getEvidenceStats'], () => {
    announce('The package is being sealed.');
    onClose();
  });
  const submit = (data: FormData) => seal.mutate({ header: { Prefer: 'wait=0' }, body: { work_item_id: item.id, note: field(data, 'note') ?? null } });
  return (
    <Dialog
      title="Seal a package"
      action={preview.data && preview.data.completeness.gaps.length > 0 ? 'Seal with these gaps' : 'Seal the package'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={seal.isPending}
      error={seal.error}
      size="lg"
    >
      <Show query={preview} rows={4}>
        {(data) => (
          <>
            <p className="dim">
              Sealed now, the package would contain {count(data.counts.findings, 'finding')}, {count(data.counts.scans, 'scan')} and{' '}
              {count(data.counts.artifacts, 'artifact')}.
            </p>
            <Preview preview={data} />
          </>
        )}
      </Show>
      <Textarea data-autofocus name="note" label="Note" description="Shown in the package" />
    </Dialog>
  );
}
