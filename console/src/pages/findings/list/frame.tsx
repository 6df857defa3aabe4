import { Button, NativeSelect } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useMay } from '../../../api/session.ts';
import { useCommands } from '../../../keys/keys.ts';
import { FilterBar } from '../../../lists/filter-bar.tsx';
import { type Changes, change, type Query } from '../../../lists/query.ts';
import { SavedViews } from '../../../lists/saved-views.tsx';
import { Page } from '../../../parts/page.tsx';
import { findingFilters, findingViews } from './filters.ts';
import css from './frame.module.css';

const Facets = lazy(async () => ({ default: (await import('./facets.tsx')).Facets }));
const ExportMenu = lazy(async () => ({ default: (await import('./export-menu.tsx')).ExportMenu }));
const NewFindingDialog = lazy(async () => ({ default: (await import('../new-finding-dialog.tsx')).NewFindingDialog }));

const views = findingViews();
const groupings = [
  { value: '', label: 'Not grouped' },
  { value: 'vulnerability', label: 'By vulnerability' },
  { value: 'asset', label: 'By asset' },
  { value: 'component', label: 'By component' },
  { value: 'cwe', label: 'By CWE' },
];

interface FrameProps {
  query: Query;
  total?: ReactNode;
  onChange: (changes: Changes) => void;
  children: ReactNode;
}

/** Views, filters and actions above the findings, as a list or in groups. */
export function Frame({ query, total = null, onChange, children }: FrameProps) {
  const filter = change(query, { open: null, group: null });
  const filterBy = (changes: Changes) => onChange({ ...changes, open: null });
  const mayCreate = useMay('findings:triage');
  const [isCreating, setCreating] = useState(false);
  useCommands(mayCreate ? { create: () => setCreating(true) } : {});
  return (
    <Page
      title="Findings"
      info={<span aria-live="polite">{total}</span>}
      actions={
        <>
          <NativeSelect
            aria-label="Group by"
            data={groupings}
            value={query.group ?? ''}
            onChange={({ target }) => onChange({ group: target.value === '' ? null : target.value, open: null, sort: null })}
          />
          <Suspense>
            <ExportMenu query={filter} />
          </Suspense>
          {mayCreate && (
            <Button variant="default" onClick={() => setCreating(true)}>
              New finding
            </Button>
          )}
        </>
      }
      bar={
        <>
          <SavedViews list="findings" path="/findings" views={views} query={query} />
          <FilterBar filters={findingFilters} query={filter} onChange={filterBy} example="severity:critical" />
          <Suspense fallback={<div className={css.facets} />}>
            <Facets query={filter} onChange={filterBy} />
          </Suspense>
        </>
      }
      fixed
    >
      {children}
      <Suspense>{isCreating && <NewFindingDialog assetId={query.asset_id} onClose={() => setCreating(false)} />}</Suspense>
    </Page>
  );
}
