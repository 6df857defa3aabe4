import { Button } from '@mantine/core';
import type { ItemOf } from '@rrs/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useApi } from '../../../api/client.ts';
import { forgetChanges, useChanges } from '../../../api/live.ts';
import { useMay } from '../../../api/session.ts';
import { FilterBar } from '../../../lists/filter-bar.tsx';
import type { Filter } from '../../../lists/filters.ts';
import { type List, restartLists, totalOf, useList } from '../../../lists/infinite.ts';
import { useQueryString } from '../../../lists/query.ts';
import { type Column, Table } from '../../../lists/table.tsx';
import { useRows } from '../../../lists/use-rows.ts';
import { ConclusionMark, GradeMark } from '../../../parts/evidence.tsx';
import { Page } from '../../../parts/page.tsx';
import { Empty } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { count, number, utc } from '../../../parts/words.ts';
import { EvidenceNav } from './evidence-nav.tsx';

type Listed = ItemOf<'listEvidencePackages'>;
type Row = Listed & { id: string };

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', options: ['ready', 'superseded', 'generating', 'failed'], isList: true },
  { name: 'generated_from', label: 'Generated from' },
  { name: 'generated_to', label: 'Generated before' },
  { name: 'work_item_id', label: 'Work item' },
];

const columns: readonly Column<Row>[] = [
  {
    id: 'title',
    label: 'Work item',
    width: 'minmax(200px, 5fr)',
    cell: ({ work_item_title }) => <strong>{work_item_title}</strong>,
    hint: ({ work_item_title }) => work_item_title,
  },
  { id: 'sequence', label: 'Number', width: '64px', align: 'end', cell: ({ sequence }) => sequence },
  { id: 'status', label: 'Status', width: '104px', cell: ({ status }) => <StatusMark status={status} /> },
  { id: 'conclusion', label: 'Conclusion', width: '170px', cell: ({ conclusion }) => (conclusion ? <ConclusionMark conclusion={conclusion} /> : null) },
  { id: 'grade', label: 'Grade', width: '56px', cell: ({ completeness }) => (completeness ? <GradeMark grade={completeness.grade} /> : null) },
  {
    id: 'gaps',
    label: 'Major gaps',
    width: '84px',
    align: 'end',
    from: 900,
    cell: ({ completeness }) => (completeness ? number(completeness.gaps.filter(({ weight }) => weight === 'major').length) : null),
  },
  { id: 'findings', label: 'Findings', width: '76px', align: 'end', from: 1120, cell: ({ counts }) => (counts ? number(counts.findings) : null) },
  {
    id: 'by',
    label: 'By',
    width: 'minmax(100px, 1fr)',
    isMinor: true,
    from: 1120,
    className: 'dim',
    cell: ({ generated_by }) => generated_by.name,
    hint: ({ generated_by }) => generated_by.name,
  },
  {
    id: 'requested',
    label: 'Requested',
    width: '110px',
    sort: 'generated_at',
    cell: ({ requested_at }) => <Time at={requested_at} isBare />,
    hint: ({ requested_at }) => utc(requested_at),
  },
];

/** Rows of lists are known by `id`. A package is known by another name, and each row must stay the same object. */
const rows = new WeakMap<Listed, Row>();
function rowOf(listed: Listed): Row {
  const row = rows.get(listed) ?? { ...listed, id: listed.package_id };
  rows.set(listed, row);
  return row;
}
function withIds(list: List<Listed>): List<Row> {
  const at = (index: number) => {
    const listed = list.row(index);
    return listed && rowOf(listed);
  };
  return { ...list, row: at, rows: list.rows.map(rowOf) };
}

/** Rows never move under the cursor: the list is read again when somebody opens or asks for it. */
function showChanges(): void {
  forgetChanges('listEvidencePackages');
  void restartLists('listEvidencePackages');
}

export function PackagesPage() {
  const [query, setQuery] = useQueryString();
  const list = withIds(useList('listEvidencePackages', query));
  const navigate = useNavigate();
  const mayManage = useMay('evidence:manage');
  const changes = useChanges('listEvidencePackages');
  useEffect(showChanges, []);
  const open = ({ id }: Row) => void navigate({ to: '/evidence/$id', params: { id } });
  const table = useRows(list, query, open, { 'show-changes': showChanges, ...(mayManage ? { create: () => void navigate({ to: '/evidence/new' }) } : {}) });
  return (
    <Page
      title="Evidence"
      info={
        <span>
          <span aria-live="polite">{totalOf(list.total)}</span> <Coverage />
        </span>
      }
      actions={
        <>
          {changes > 0 && (
            <Button variant="default" onClick={showChanges}>
              Show {count(changes, 'change')}
            </Button>
          )}
          {mayManage && (
            <Button component={Link} to="/evidence/new">
              Seal a package
            </Button>
          )}
        </>
      }
      bar={
        <>
          <EvidenceNav />
          <FilterBar filters={filters} query={query} onChange={setQuery} example="status:ready" />
        </>
      }
      fixed
    >
      <Table
        label="Evidence packages"
        columns={columns}
        {...table}
        sort={query.sort}
        onSort={(sort) => setQuery({ sort })}
        empty={
          Object.keys(query).length > 0 ? (
            <Empty title="No packages match">Remove a filter to see more.</Empty>
          ) : (
            <Empty title="No packages yet" actions={mayManage && <Link to="/evidence/new">Seal the first package</Link>}>
              A package proves to others what became of the findings of a work item. They can verify it without trusting this service.
            </Empty>
          )
        }
      />
    </Page>
  );
}

function Coverage() {
  const { data } = useApi('getEvidenceStats', {});
  if (data === undefined || data.work_items.coverage === null) return null;
  const { with_ready_package: covered, closed } = data.work_items;
  return (
    <span>
      · {number(covered)} of {count(closed, 'closed work item has', 'closed work items have')} a package
    </span>
  );
}
