import { Button } from '@mantine/core';
import { useApi, useChange } from '../../api/client.ts';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { messageOf, Show } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { browserOf } from './browser.ts';
import { SettingsPage } from './settings-page.tsx';

/** Where a person is signed in. */
export function Sessions() {
  const sessions = useApi('listOwnSessions', {});
  const end = useChange('endOwnSession', ['listOwnSessions'], () => announce('The session ended.'));
  return (
    <SettingsPage title="Sessions" about="The browsers in which you are signed in. End those that you do not know, and change your password.">
      <Show query={sessions}>
        {({ data }) => (
          <SimpleTable
            label="Sessions"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                label: 'Browser',
                cell: ({ user_agent, current }) => <span title={user_agent ?? ''}>{`${browserOf(user_agent)}${current ? ' (this one)' : ''}`}</span>,
              },
              { label: 'Address', cell: ({ address }) => <code>{address}</code> },
              { label: 'Signed in with', cell: ({ method }) => (method === 'oidc' ? 'Identity provider' : 'Password') },
              { label: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
              { label: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
              {
                label: 'Actions',
                align: 'end',
                cell: ({ id, current }) =>
                  current ? null : (
                    <Button
                      variant="default"
                      size="compact-xs"
                      onClick={() => end.mutate({ path: { id } }, { onError: (error) => announce(messageOf(error), { isBad: true }) })}
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Show>
    </SettingsPage>
  );
}
