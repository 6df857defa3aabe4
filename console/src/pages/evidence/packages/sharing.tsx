import { Button } from '@mantine/core';
import type { ItemOf } from '@rrs/client';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { number } from '../../../parts/words.ts';

type Link = ItemOf<'listShareLinks'>;

/** Who can download the package without an account, and who did. */
export function Sharing({ packageId }: { packageId: string }) {
  const links = useApi('listShareLinks', { path: { package_id: packageId }, query: { limit: 200 } });
  const [revoking, setRevoking] = useState<Link | null>(null);
  const mayRevoke = useMay('evidence:manage');
  return (
    <Section title="Share links">
      <Show query={links}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nobody has a link">Share the package to let somebody read, download and verify it without an account.</Empty>
          ) : (
            <SimpleTable
              label="Share links"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'For', cell: ({ recipient }) => recipient },
                { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
                {
                  label: 'Downloads',
                  align: 'end',
                  cell: ({ downloads, max_downloads }) => (max_downloads === null ? number(downloads) : `${number(downloads)} of ${number(max_downloads)}`),
                },
                { label: 'Last download', cell: ({ last_download_at }) => <Time at={last_download_at} none="never" /> },
                { label: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
                { label: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
                { label: 'By', cell: ({ created_by }) => <span className="dim">{created_by.name}</span> },
                {
                  label: 'Action',
                  cell: (link) =>
                    mayRevoke && (link.status === 'active' || link.status === 'used_up') ? (
                      <Button variant="default" onClick={() => setRevoking(link)} aria-label={`Revoke the link of ${link.recipient}`}>
                        Revoke
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Show>
      {revoking && <Revoke link={revoking} onClose={() => setRevoking(null)} />}
    </Section>
  );
}

function Revoke({ link, onClose }: { link: Link; onClose: () => void }) {
  const revoke = useChange('revokeShareLink', ['listShareLinks'], () => {
    announce('The link is revoked.');
    onClose();
  });
  return (
    <Dialog
      title={`Revoke the link of ${link.recipient}?`}
      action="Revoke the link"
      isDangerous
      onClose={onClose}
      onSubmit={() => revoke.mutate({ path: { package_id: link.package_id, id: link.id } })}
      isBusy={revoke.isPending}
      error={revoke.error}
    >
      <p>It stops working at once. Files that were downloaded before stay with the recipient.</p>
    </Dialog>
  );
}
