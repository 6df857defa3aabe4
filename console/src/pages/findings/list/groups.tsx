import type { FindingGroup } from '@rrs/client';
import { useMemo } from 'react';
import { type List, useList } from '../../../lists/infinite.ts';
import type { Query } from '../../../lists/query.ts';
import { type Column, Table } from '../../../lists/table.tsx';
import { useRows } from '../../../lists/use-rows.ts';
import { SeverityChip, severities } from '../../../parts/severity.tsx';
import { Empty } from '../../../parts/states.tsx';
import { number } from '../../../parts/words.ts';
import css from './groups.module.css';

type Row = FindingGroup & { id: string };

const columns: readonly Column<Row>[] = [
  {
    id: 'risk',
    label: 'Highest risk',
    width: '96px',
    sort: 'max_risk',
    align: 'end',
    cell: ({ max_risk }) => Math.round(max_risk),
  },
  {
    id: 'title',
    label: 'Group',
    width: 'minmax(200px, 2fr)',
    cell: ({ key, label }) => (
      <>
        {key !== label && !/^[0-9a-f-]{36}$/.test(key) && <span className="mono">{key} </span>}
        <strong>{label}</strong>
      </>
    ),
    hint: ({ label }) => label,
  },
  {
    id: 'severities',
    label: 'By severity',
    width: 'minmax(420px, 2fr)',
    from: 1000,
    cell: ({ by_severity }) => (
      <span className={css.severities}>
        {severities.map((severity) =>
          by_severity[severity] > 0 ? (
            <span key={severity}>
              <SeverityChip severity={severity} /> {number(by_severity[severity])}
            </span>
          ) : null,
        )}
      </span>
    ),
  },
  { id: 'count', label: 'Findings', width: '88px', sort: 'count', align: 'end', cell: ({ count }) => number(count) },
  { id: 'active', label: 'Active', width: '80px', sort: 'active', align: 'end', cell: ({ active }) => number(active) },
  { id: 'assets', label: 'Assets', width: '80px', sort: 'assets', align: 'end', cell: ({ assets }) => number(assets) },
];

/** Findings that have something in common as one row. Opening a row lists its findings. */
export function Groups({ by, query, onOpen, onSort }: { by: string; query: Query; onOpen: (filter: Query) => void; onSort: (sort: string) => void }) {
  const groups = useList('listFindingGroups', { ...query, by });
  const list = useMemo(() => withIds(groups), [groups]);
  const open = ({ filter }: Row) => onOpen(Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)])));
  const rows = useRows(list, query, open);
  return (
    <Table
      label="Groups of findings"
      columns={columns}
      {...rows}
      sort={query.sort ?? '-max_risk'}
      onSort={onSort}
      empty={<Empty title="No groups">No finding that matches has what they would be grouped by.</Empty>}
    />
  );
}

function withIds(list: List<FindingGroup>): List<Row> {
  const rows = list.rows.map((group) => ({ ...group, id: group.key }));
  const offset = list.count - rows.length;
  return { ...list, rows, row: (index) => rows[index - offset] };
}
