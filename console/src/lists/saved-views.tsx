import { Button } from '@mantine/core';
import type { View as SavedView } from '@rrs/client';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../api/client.ts';
import type { Query } from './query.ts';
import css from './saved-views.module.css';
import { keyOf, Tabs, type View } from './tabs.tsx';
import { queryOf } from './view-query.ts';

const ViewMenu = lazy(async () => ({ default: (await import('./view-menu.tsx')).ViewMenu }));
const ViewDialog = lazy(async () => ({ default: (await import('./view-dialog.tsx')).ViewDialog }));

interface SavedViewsProps {
  list: SavedView['list'];
  path: string;
  /** The views that everybody has. */
  views: readonly View[];
  query: Query;
}

/** The views of a list as tabs: those that everybody has, and those that people saved. */
export function SavedViews({ list, path, views, query }: SavedViewsProps) {
  const saved = useApi('listViews', { query: { list, limit: 100 } }, { staleTime: 60_000 });
  const [open, setOpen] = useState<SavedView | 'new' | null>(null);
  const own = saved.data?.data ?? [];
  const named = own.map((view) => ({ label: view.name, query: queryOf(view) }));
  // What somebody saved stands for the one that everybody has, if they are called the same or show the same.
  const isReplaced = (view: View): boolean => named.some(({ label, query: saved }) => label === view.label || keyOf(saved) === keyOf(view.query));
  const all = [...views.filter((view) => !isReplaced(view)), ...named];
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
        <Suspense>{chosen && <ViewMenu view={chosen} path={path} onRename={() => setOpen(chosen)} />}</Suspense>
      </div>
      <Suspense>{open !== null && <ViewDialog list={list} query={query} {...(open === 'new' ? {} : { view: open })} onClose={() => setOpen(null)} />}</Suspense>
    </div>
  );
}
