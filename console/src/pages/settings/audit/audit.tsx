import { Button } from '@mantine/core';
import { DownloadIcon } from '@primer/octicons-react';
import { useState } from 'react';
import { FilterBar } from '../../../lists/filter-bar.tsx';
import { type List, totalOf, useList } from '../../../lists/infinite.ts';
import { useQueryString, writeQuery } from '../../../lists/query.ts';
import { type Column, Table } from '../../../lists/table.tsx';
import { useRows } from '../../../lists/use-rows.ts';
import { Menu } from '../../../parts/layers/menu.tsx';
import { ReadOnly } from '../../../parts/manage/read-only.tsx';
import { Empty } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { term, utc } from '../../../parts/words.ts';
import { SettingsPage } from '../settings-page.tsx';
import { type AuditEvent, Change } from './change.tsx';
import { filters } from './filters.ts';

const columns: readonly Column<AuditEvent>[] = [
  {
    id: 'when',
    label: 'When',
    width: '110px',
    sort: 'occurred_at',
    cell: ({ occurred_at }) => <Time at={occurred_at} isBare />,
    hint: ({ occurred_at }) => utc(occurred_at),
  },
  { id: 'who', label: 'Who', width: 'minmax(140px, 1fr)', cell: ({ actor, person }) => person?.name ?? actor.name, hint: (event) => actorText(event) },
  { id: 'title', label: 'What', width: 'minmax(160px, 1fr)', cell: ({ action }) => actionText(action) },
  {
    id: 'object',
    label: 'Object',
    width: 'minmax(160px, 1.4fr)',
    className: 'dim',
    cell: (event) => objectText(event),
    hint: ({ object }) => `${term(object.type)} ${object.id}`,
  },
  { id: 'address', label: 'Address', width: '120px', isMinor: true, from: 720, cell: ({ address }) => <code>{address}</code> },
];

/** "api_key.created" becomes "API key created". */
const actionText = (action: string): string => term(action.replace('.', '_').replace(/^api_key/, 'API_key'));

/** The key, the connection or the part of the service that acted, with its id. */
const actorText = ({ actor: { name, id } }: AuditEvent): string => (id === null ? name : `${name} ${id}`);

/** What the object is called now, or was called then. */
const objectText = ({ object, after, before }: AuditEvent): string => object.name ?? nameOf(after) ?? nameOf(before) ?? term(object.type);

function nameOf(snapshot: Record<string, unknown> | null): string | null {
  const name = snapshot?.name ?? snapshot?.title ?? snapshot?.email ?? snapshot?.filename ?? snapshot?.provider;
  return typeof name === 'string' ? name : null;
}

/** Who changed what, and when. The address has the filters, with the names of the API. */
export function Audit() {
  const [query, setQuery] = useQueryString();
  const list = useList('listAuditEvents', query);
  const [open, setOpen] = useState<AuditEvent | null>(null);
  const rows = useRows(list, query, setOpen);
  return (
    <SettingsPage title="Audit trail" about={<span aria-live="polite">{totalText(list)}</span>} actions={<Export query={query} />} fixed>
      <ReadOnly permission="audit:read" to="read the audit trail" />
      <FilterBar filters={filters} query={query} onChange={setQuery} example="object_type:finding" />
      <Table
        label="Audit trail"
        columns={columns}
        {...rows}
        sort={query.sort ?? '-occurred_at'}
        onSort={(sort) => setQuery({ sort })}
        empty={<Empty title="Nothing matches">Remove a filter to see more.</Empty>}
      />
      {open && <Change event={open} onClose={() => setOpen(null)} onFilter={setQuery} />}
    </SettingsPage>
  );
}

const totalText = ({ total }: List<AuditEvent>): string =>
  total === null ? 'Every change, with who made it. Entries are never changed or deleted.' : `${totalOf(total)} entries, which are never changed or deleted.`;

/** The entries that match, as a file. */
function Export({ query: { sort: _sort, ...filter } }: { query: Record<string, string> }) {
  const addressOf = (format: string): string => `/api/v1/audit-events/export${writeQuery({ format, ...filter })}`;
  return (
    <Menu
      target={
        <Button variant="default" leftSection={<DownloadIcon size={14} />}>
          Export
        </Button>
      }
      actions={[
        { label: 'CSV', download: addressOf('csv') },
        { label: 'NDJSON (one entry per line)', download: addressOf('ndjson') },
      ]}
    />
  );
}
