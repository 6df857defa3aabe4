import { Menu } from '@mantine/core';
import { TriangleDownIcon } from '@primer/octicons-react';
import type { FacetValues, InputOf } from '@rrs/client';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useProviderNames } from '../../../api/source-names.ts';
import { totalOf } from '../../../lists/infinite.ts';
import type { Changes, Query } from '../../../lists/query.ts';
import { Failure, Loading } from '../../../parts/states.tsx';
import { term } from '../../../parts/words.ts';
import css from './facets.module.css';

type Facet = keyof FacetValues;

const facets: readonly { name: Facet; label: string; isFlag?: true }[] = [
  { name: 'severity', label: 'Severity' },
  { name: 'status', label: 'Status' },
  { name: 'source', label: 'Source' },
  { name: 'source_kind', label: 'Source kind' },
  { name: 'asset_type', label: 'Asset type' },
  { name: 'exposure', label: 'Exposure' },
  { name: 'criticality', label: 'Criticality' },
  { name: 'kev', label: 'Exploited', isFlag: true },
  { name: 'has_fix', label: 'Fix', isFlag: true },
  { name: 'overdue', label: 'Overdue', isFlag: true },
  { name: 'has_work_item', label: 'Work item', isFlag: true },
];

/** How many findings each value of a filter would leave. Counted when a menu is opened. */
export function Facets({ query, onChange }: { query: Query; onChange: (changes: Changes) => void }) {
  const [open, setOpen] = useState<Facet | null>(null);
  return (
    <fieldset className={css.facets} aria-label="Filters with counts">
      {facets.map(({ name, label, isFlag = false }) => (
        <Menu key={name} opened={open === name} onChange={(opened) => setOpen(opened ? name : null)} closeOnItemClick={isFlag} position="bottom-start">
          <Menu.Target>
            <button type="button" className={css.facet} data-set={query[name] !== undefined || undefined}>
              {label}
              <TriangleDownIcon size={14} aria-hidden />
            </button>
          </Menu.Target>
          <Menu.Dropdown aria-label={label}>{open === name && <Values name={name} isFlag={isFlag} query={query} onChange={onChange} />}</Menu.Dropdown>
        </Menu>
      ))}
    </fieldset>
  );
}

interface ValuesProps {
  name: Facet;
  isFlag: boolean;
  query: Query;
  onChange: (changes: Changes) => void;
}

function Values({ name, isFlag, query, onChange }: ValuesProps) {
  const { sort: _sort, ...filter } = query;
  const input = { query: { ...filter, by: [name] } } as InputOf<'getFindingFacets'>;
  const facets = useApi('getFindingFacets', input, { keep: true });
  const nameOf = useProviderNames(name === 'source');
  if (facets.error) return <Failure error={facets.error} />;
  if (facets.data === undefined) return <Loading />;
  const wordOf = (value: string): string => (isFlag ? (value === 'true' ? 'Yes' : 'No') : name === 'source' ? nameOf(value) : term(value));
  const chosen = query[name]?.split(',') ?? [];
  const toggle = (value: string) => {
    const next = chosen.includes(value) ? chosen.filter((each) => each !== value) : isFlag ? [value] : [...chosen, value];
    onChange({ [name]: next.length === 0 ? null : next.join(',') });
  };
  return facets.data.data[name]?.map(({ value, count, relation }) => (
    <Menu.CheckboxItem
      key={value}
      checked={chosen.includes(value)}
      closeMenuOnClick={isFlag}
      rightSection={<span className="dim">{totalOf({ count, relation })}</span>}
      onChange={() => toggle(value)}
    >
      {wordOf(value)}
    </Menu.CheckboxItem>
  ));
}
