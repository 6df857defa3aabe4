import { Button, NativeSelect } from '@mantine/core';
import { lazy, memo, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
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
  const key = JSON.stringify(change(query, { open: null }));
  const mayCreate = useMay('findings:triage');
  const [isCreating, setCreating] = useState(false);
  const create = useCallback(() => setCreating(true), []);
  useCommands(mayCreate ? { create } : {});
  return (
    <Page
      title="Findings"
      info={<span aria-live="polite">{total}</span>}
      actions={<Actions query={key} onChange={onChange} {...(mayCreate && { onCreate: create })} />}
      bar={<Bar query={key} onChange={onChange} />}
      fixed
    >
      {children}
      <Suspense>{isCreating && <NewFindingDialog assetId={query.asset_id} onClose={() => setCreating(false)} />}</Suspense>
    </Page>
  );
}

interface PartProps {
  /** As text, which tells whether it changed: each page of the list that is read draws the frame again, and these parts take longer than its rows. */
  query: string;
  onChange: (changes: Changes) => void;
}
const parse = (query: string): Query => JSON.parse(query) as Query;

const Actions = memo(({ query: text, onChange, onCreate }: PartProps & { onCreate?: () => void }) => {
  const query = parse(text);
  return (
    <>
      <NativeSelect
        aria-label="Group by"
        data={groupings}
        value={query.group ?? ''}
        onChange={({ target }) => onChange({ group: target.value === '' ? null : target.value, open: null, sort: null })}
      />
      <Suspense>
        <ExportMenu query={change(query, { group: null })} />
      </Suspense>
      {onCreate && (
        <Button variant="default" onClick={onCreate}>
          New finding
        </Button>
      )}
    </>
  );
});

const Bar = memo(({ query: text, onChange }: PartProps) => {
  const query = useMemo(() => parse(text), [text]);
  const filter = useMemo(() => change(query, { group: null }), [query]);
  const filterBy = useCallback((changes: Changes) => onChange({ ...changes, open: null }), [onChange]);
  return (
    <>
      <SavedViews list="findings" path="/findings" views={views} query={query} />
      <FilterBar filters={findingFilters} query={filter} onChange={filterBy} example="severity:critical" />
      <Suspense fallback={<div className={css.facets} />}>
        <Facets query={filter} onChange={filterBy} />
      </Suspense>
    </>
  );
});
