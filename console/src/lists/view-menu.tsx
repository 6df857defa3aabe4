import { ActionIcon, Menu } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';
import type { View as SavedView } from '@rrs/client';
import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../api/client.ts';
import { useDefaultViews } from '../api/default-views.ts';
import { useMay } from '../api/session.ts';
import { messageOf } from '../parts/states.tsx';
import { announce } from '../parts/toast.tsx';
import { writeQuery } from './query.ts';
import { queryOf } from './view-query.ts';

/** What can be done with a saved view. */
export function ViewMenu({ view, path, onRename }: { view: SavedView; path: string; onRename: () => void }) {
  const navigate = useNavigate();
  const mayShare = useMay('views:share');
  const [defaults, setDefault] = useDefaultViews();
  const isDefault = defaults[view.list] === writeQuery(queryOf(view));
  const remove = useChange('deleteView', ['listViews'], () => {
    if (isDefault) void setDefault(view.list, null);
    announce(`Deleted the view “${view.name}”.`);
    void navigate({ to: path, search: {} });
  });
  const toggleDefault = () =>
    void setDefault(view.list, isDefault ? null : writeQuery(queryOf(view))).then(
      () => announce(isDefault ? 'The list opens with its first view again.' : `The list opens with “${view.name}” from now on.`),
      (error: unknown) => announce(messageOf(error), { isBad: true }),
    );
  const mayChange = view.scope === 'mine' || mayShare;
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`Change the view ${view.name}`}>
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={toggleDefault}>{isDefault ? 'No longer my default' : 'Make it my default'}</Menu.Item>
        {mayChange && (
          <>
            <Menu.Item onClick={onRename}>Rename</Menu.Item>
            <Menu.Divider />
            <Menu.Item color="red" onClick={() => remove.mutate({ path: { id: view.id } })}>
              Delete
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
