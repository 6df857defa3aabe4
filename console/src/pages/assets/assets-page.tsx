import { Button } from '@mantine/core';
import type { Asset } from '@rrs/client';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { FilterBar } from '../../lists/filter-bar.tsx';
import type { Filter } from '../../lists/filters.ts';
import { totalOf, useList } from '../../lists/infinite.ts';
import { useQueryString } from '../../lists/query.ts';
import { SavedViews } from '../../lists/saved-views.tsx';
import { type Column, Table } from '../../lists/table.tsx';
import { useRows } from '../../lists/use-rows.ts';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { number, splitName, term, utc } from '../../parts/words.ts';
import css from './assets-page.module.css';

const filters: readonly Filter[] = [
  { name: 'name', label: 'Name starts with' },
  { name: 'type', label: 'Type', options: ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'], isList: true },
  { name: 'criticality', label: 'Criticality', options: ['critical', 'high', 'medium', 'low'], isList: true },
  { name: 'exposure', label: 'Exposure', options: ['internet', 'internal', 'unknown'], isList: true },
  { name: 'tag', label: 'Tag', isList: true },
  { name: 'owner', label: 'Owner', isList: true },
  { name: 'has_findings', label: 'Has active findings', options: ['true', 'false'] },
  { name: 'q', label: 'Text' },
  { name: 'retired', label: 'Retired', options: ['true', 'false'] },
];

const columns: readonly Column<Asset>[] = [
  { id: 'title', label: 'Name', width: 'minmax(240px, 4fr)', sort: 'name', cell: ({ name }) => <Name name={name} />, hint: ({ name }) => name },
  { id: 'owner', label: 'Owner', width: 'minmax(100px, 1fr)', cell: ({ owner }) => owner, hint: ({ owner }) => owner },
  { id: 'type', label: 'Type', width: '132px', cell: ({ type }) => term(type) },
  { id: 'criticality', label: 'Criticality', width: '88px', from: 700, cell: ({ criticality }) => term(criticality) },
  { id: 'exposure', label: 'Exposure', width: '88px', from: 700, cell: ({ exposure }) => term(exposure) },
  { id: 'findings', label: 'Active', width: '60px', sort: 'active', align: 'end', cell: ({ findings }) => number(findings.active) },
  {
    id: 'worst',
    label: 'Critical, high',
    width: '92px',
    align: 'end',
    cell: ({ findings }) => `${number(findings.critical)}, ${number(findings.high)}`,
  },
  {
    id: 'risk',
    label: 'Highest risk',
    width: '104px',
    sort: 'max_risk',
    align: 'end',
    cell: ({ findings }) => (findings.max_risk === null ? '' : Math.round(findings.max_risk)),
  },
  {
    id: 'tags',
    label: 'Tags',
    width: 'minmax(100px, 1fr)',
    isMinor: true,
    from: 1200,
    className: 'dim',
    cell: ({ tags }) => tags.join(', '),
    hint: ({ tags }) => tags.join(', '),
  },
  {
    id: 'created',
    label: 'Known since',
    width: '120px',
    sort: 'created_at',
    isMinor: true,
    from: 1100,
    cell: ({ created_at }) => <Time at={created_at} isBare />,
    hint: ({ created_at }) => utc(created_at),
  },
];

/** If there is too little room, the beginning is cut, because names differ at their ends. */
function Name({ name }: { name: string }) {
  const [start, end] = splitName(name);
  const where = start.endsWith('://') ? '' : start;
  return (
    <span className={css.name}>
      {where !== '' && <span className="dim ellipsis">{where}</span>}
      <strong className="ellipsis">{end}</strong>
    </span>
  );
}

const NewAssetDialog = lazy(async () => ({ default: (await import('./new-asset-dialog.tsx')).NewAssetDialog }));

const views = [
  { label: 'Worst first', query: { retired: 'false', sort: '-max_risk' } },
  { label: 'Internet', query: { retired: 'false', exposure: 'internet', sort: '-max_risk' } },
  { label: 'Retired', query: { retired: 'true', sort: 'name' } },
  { label: 'All', query: {} },
];

export function AssetsPage() {
  const [query, setQuery] = useQueryString();
  const list = useList('listAssets', query);
  const [isCreating, setCreating] = useState(false);
  const may = useMay('assets:manage');
  const navigate = useNavigate();
  const open = ({ id }: Asset) => void navigate({ to: '/assets/$id', params: { id } });
  const rows = useRows(list, query, open, may ? { create: () => setCreating(true) } : {});
  return (
    <Page
      title="Assets"
      info={<span aria-live="polite">{totalOf(list.total)}</span>}
      actions={may && <Button onClick={() => setCreating(true)}>New asset</Button>}
      bar={
        <>
          <SavedViews list="assets" path="/assets" views={views} query={query} />
          <FilterBar filters={filters} query={query} onChange={setQuery} example="criticality:critical" />
        </>
      }
      fixed
    >
      <Table
        label="Assets"
        columns={columns}
        {...rows}
        sort={query.sort}
        onSort={(sort) => setQuery({ sort })}
        empty={<Empty title="No assets match">Assets appear with the findings of reports and connections. Remove a filter to see more.</Empty>}
      />
      <Suspense>{isCreating && <NewAssetDialog onClose={() => setCreating(false)} />}</Suspense>
    </Page>
  );
}
