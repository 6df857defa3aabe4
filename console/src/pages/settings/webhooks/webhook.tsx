import { Button } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SecretOnce } from '../../../parts/manage/secret-once.tsx';
import { Facts } from '../../../parts/page.tsx';
import { messageOf, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { Deliveries } from './deliveries.tsx';
import { statusOf, type Webhook } from './status.ts';
import { WebhookDialog } from './webhook-dialog.tsx';

export function WebhookPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const webhook = useApi('getWebhook', { path: { id } });
  return (
    <SettingsPage title="Webhook" actions={webhook.data && <Actions webhook={webhook.data} />}>
      <p>
        <Link to="/settings/webhooks">All webhooks</Link>
      </p>
      <Show query={webhook} rows={6}>
        {(data) => (
          <>
            <Facts
              rows={[
                ['URL', data.url],
                ['Note', data.description],
                ['Events', data.event_types.join(', ')],
                ['Status', <StatusMark key="status" status={statusOf(data)} />],
                ['Why paused', data.disabled_reason],
                ['Failing since', data.failing_since && <Time key="failing" at={data.failing_since} />],
                ['Next attempt', data.paused_until && <Time key="paused" at={data.paused_until} />],
                ['Last accepted', <Time key="success" at={data.last_success_at} none="never" />],
                ['Secret', `Ends with ${data.secret_hint}`],
                [
                  'Previous secret',
                  data.previous_secret_until && (
                    <>
                      Also used until <Time at={data.previous_secret_until} />
                    </>
                  ),
                ],
                ['Added by', data.created_by],
              ]}
            />
            <Deliveries id={id} isEnabled={data.enabled} />
          </>
        )}
      </Show>
    </SettingsPage>
  );
}

function Actions({ webhook }: { webhook: Webhook }) {
  const may = useMay('webhooks:manage');
  const { id } = webhook;
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'delete' | 'rotate' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setOpen(null);
  const test = useChange('testWebhook', ['listWebhookDeliveries', 'getWebhook'], ({ status, error, response_status }) =>
    status === 'succeeded'
      ? announce(`The receiver accepted the test (${response_status}).`)
      : announce(`The test failed: ${error ?? response_status}`, { isBad: true }),
  );
  const rotate = useChange('rotateWebhookSecret', ['getWebhook', 'listWebhooks'], (rotated) => {
    close();
    setSecret(rotated.secret);
  });
  const remove = useChange('deleteWebhook', ['listWebhooks'], () => {
    announce('The webhook is deleted.');
    void navigate({ to: '/settings/webhooks' });
  });
  if (!may) return null;
  return (
    <>
      <Button
        variant="default"
        loading={test.isPending}
        onClick={() => test.mutate({ path: { id } }, { onError: (error) => announce(messageOf(error), { isBad: true }) })}
      >
        Send a test
      </Button>
      <Button variant="default" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" onClick={() => setOpen('rotate')}>
        New secret
      </Button>
      <Button variant="default" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && <WebhookDialog webhook={webhook} onClose={close} />}
      {open === 'rotate' && (
        <Dialog
          title="Create a new secret"
          action="Create the secret"
          onClose={close}
          onSubmit={() => rotate.mutate({ path: { id } })}
          isBusy={rotate.isPending}
          error={rotate.error}
        >
          <p>For 24 hours, deliveries are signed with both secrets, so that the receiver can switch over.</p>
        </Dialog>
      )}
      {open === 'delete' && (
        <Dialog
          title="Delete the webhook"
          action="Delete the webhook"
          isDangerous
          onClose={close}
          onSubmit={() => remove.mutate({ path: { id } })}
          isBusy={remove.isPending}
          error={remove.error}
        >
          <p>Nothing more is sent to {webhook.url}.</p>
        </Dialog>
      )}
      {secret !== null && <SecretOnce title="New signing secret" secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}
