import { Button } from '@mantine/core';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { useQueryString } from '../../../lists/query.ts';
import { Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { messageOf, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { number, term } from '../../../parts/words.ts';

const statuses = ['pending', 'succeeded', 'failed'] as const;

/** The latest deliveries. Each can be sent again. */
export function Deliveries({ id, isEnabled }: { id: string; isEnabled: boolean }) {
  const may = useMay('webhooks:manage');
  const [{ status }, setQuery] = useQueryString();
  const wanted = statuses.find((each) => each === status);
  const deliveries = useApi('listWebhookDeliveries', { path: { id }, query: { limit: 50, ...(wanted ? { status: [wanted] } : {}) } }, { keep: true });
  const isPending = deliveries.data?.data.some((delivery) => delivery.status === 'pending' && delivery.attempts === 0) ?? false;
  useApi(
    'listWebhookDeliveries',
    { path: { id }, query: { limit: 50, ...(wanted ? { status: [wanted] } : {}) } },
    { refetchInterval: isPending ? 1000 : false },
  );
  const replay = useChange('replayWebhookDelivery', ['listWebhookDeliveries'], () => announce('The event is sent again.'));
  return (
    <Section
      title="Deliveries"
      actions={
        <span>
          {[undefined, ...statuses].map((each) => (
            <Button
              key={each ?? 'all'}
              variant={wanted === each ? 'light' : 'subtle'}
              size="compact-xs"
              aria-pressed={wanted === each}
              onClick={() => setQuery({ status: each ?? null })}
            >
              {each === undefined ? 'All' : term(each)}
            </Button>
          ))}
        </span>
      }
    >
      <Show query={deliveries}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">Nothing was sent yet.</p>
          ) : (
            <SimpleTable
              label="Deliveries"
              rows={data}
              keyOf={(delivery) => delivery.id}
              columns={[
                { label: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
                { label: 'Event', cell: ({ event_type, replay_of }) => <code>{`${event_type}${replay_of ? ' (again)' : ''}`}</code> },
                { label: 'Status', cell: (delivery) => <StatusMark status={delivery.status} /> },
                { label: 'Attempts', align: 'end', cell: ({ attempts }) => number(attempts) },
                {
                  label: 'Response',
                  cell: ({ response_status, duration_ms, error }) => (
                    <span className="dim">{error ?? (response_status === null ? '–' : `${response_status} in ${number(duration_ms ?? 0)} ms`)}</span>
                  ),
                },
                { label: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
                {
                  label: 'Actions',
                  align: 'end',
                  cell: (delivery) =>
                    may && isEnabled ? (
                      <Button
                        variant="default"
                        size="compact-xs"
                        aria-label={`Send ${delivery.event_type} again`}
                        onClick={() =>
                          replay.mutate({ path: { id, delivery_id: delivery.id } }, { onError: (error) => announce(messageOf(error), { isBad: true }) })
                        }
                      >
                        Send again
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}
