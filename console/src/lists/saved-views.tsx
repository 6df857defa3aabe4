import { ActionIcon, Button, Menu } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';
import type { View as SavedView } from '@rrs/client';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi, useChange } from '../api/client.ts';
import { useDefaultViews } from '../api/default-views.ts';
import { useMay } from '../api/session.ts';
import { messageOf } from '../parts/states.tsx';
import { announce } from '../parts/toast.tsx';
import { parseQuery, type Query, writeQuery } from './query.ts';
import css from './saved-views.module.css';
import { keyOf, Tabs, type View } from './tabs.tsx';

const ViewDialog = lazy(async () => ({ default: (await import('./view-dialog.tsx')).ViewDialog }));

interface SavedViewsProps {
  list: SavedView['list'];
  path: string;
  /** The views that everybody has. */
  views: readonly View[];
  query: Query;
}

const queryOf = ({ query, sort }: SavedView): Query => ({ ...parseQuery(query), ...(sort === null ? {} : { sort }) });

/** The views of a list as tabs: those that everybody has, and those that people saved. */
export function SavedViews({ list, path, views, query }: SavedViewsProps) {
  const saved = useApi('listViews', { query: { list, limit: 100 } }, { staleTime: 60_000 });
  const [open, setOpen] = useState<SavedView | 'new' | null>(null);
  const own = saved.data?.data ?? [];
  const all = [...views, ...own.map((view) => ({ label: view.name, query: queryOf(view) }))];
  const current = keyOf(query);
  const chosen = own.find((view) => keyOf(queryOf(view)) === current);
  const isKnown = all.some((view) => keyOf(view.query) === current);
  return (
    <div className={css.bar}>
      <Tabs label="Views" path={path} views={all} query={query} />
      <div className={css.actions}>
        {!isKnown && (
          <Button variant="subtle" onClick={() => setOpen('new')}>
            Save view
          </Button>
        )}
        {chosen && <ViewMenu view={chosen} path={path} onRename={() => setOpen(chosen)} />}
      </div>
      <Suspense>{open !== null && <ViewDialog list={list} query={query} {...(open === 'new' ? {} : { view: open })} onClose={() => setOpen(null)} />}</Suspense>
    </div>
  );
}

function ViewMenu({ view, path, onRename }: { view: SavedView; path: string; onRename: () => void }) {
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
