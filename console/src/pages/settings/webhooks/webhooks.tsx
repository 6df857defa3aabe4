import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { useCommands } from '../../../keys/keys.ts';
import { ReadOnly } from '../../../parts/manage/read-only.tsx';
import { SecretOnce } from '../../../parts/manage/secret-once.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { statusOf } from './status.ts';
import { WebhookDialog } from './webhook-dialog.tsx';

export function Webhooks() {
  const webhooks = useApi('listWebhooks', { query: { limit: 100 } });
  const may = useMay('webhooks:manage');
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  const navigate = useNavigate();
  useCommands(may ? { create: () => setCreating(true) } : {});
  return (
    <SettingsPage
      title="Webhooks"
      about="The service sends events to these addresses as they happen, signed with a secret."
      actions={may && <Button onClick={() => setCreating(true)}>Add a webhook</Button>}
    >
      <ReadOnly permission="webhooks:manage" to="add and change webhooks" />
      <Show query={webhooks}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No webhooks">Send events to a chat, a ticketing system or your own program.</Empty>
          ) : (
            <SimpleTable
              label="Webhooks"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'URL',
                  cell: ({ id, url, description }) => (
                    <>
                      <div>
                        <Link to="/settings/webhooks/$id" params={{ id }}>
                          {url}
                        </Link>
                      </div>
                      <div className="dim">{description}</div>
                    </>
                  ),
                },
                { label: 'Events', cell: ({ event_types }) => event_types.join(', ') },
                { label: 'Status', cell: (webhook) => <StatusMark status={statusOf(webhook)} /> },
                { label: 'Last accepted', cell: ({ last_success_at }) => <Time at={last_success_at} none="never" /> },
              ]}
            />
          )
        }
      </Show>
      {isCreating && (
        <WebhookDialog
          webhook={null}
          onClose={() => setCreating(false)}
          onCreated={(webhook) => {
            setCreating(false);
            setCreated(webhook);
          }}
        />
      )}
      {created && (
        <SecretOnce title="Signing secret" secret={created.secret} onClose={() => void navigate({ to: '/settings/webhooks/$id', params: { id: created.id } })}>
          <p>The receiver checks with it that an event comes from this service.</p>
        </SecretOnce>
      )}
    </SettingsPage>
  );
}
