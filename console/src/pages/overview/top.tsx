import { NativeSelect } from '@mantine/core';
import type { InputOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { number } from '../../parts/words.ts';
import { ACTIVE } from './severity-tiles.tsx';

type By = NonNullable<NonNullable<InputOf<'getTopFindings'>['query']>['by']>;
const groupings: readonly { value: By; label: string; head: string }[] = [
  { value: 'component', label: 'By component', head: 'Component' },
  { value: 'vulnerability', label: 'By vulnerability', head: 'Vulnerability' },
  { value: 'asset', label: 'By asset', head: 'Asset' },
  { value: 'cwe', label: 'By CWE', head: 'CWE' },
];

/** What causes most of the work: one update or one fix may close many findings. */
export function Top() {
  const [by, setBy] = useState<By>('component');
  const top = useApi('getTopFindings', { query: { by, limit: 8 } }, { keep: true });
  return (
    <Section
      title="Most active findings"
      actions={
        <NativeSelect
          aria-label="Count by"
          data={groupings.map(({ value, label }) => ({ value, label }))}
          value={by}
          onChange={({ target }) => setBy(groupings.find(({ value }) => value === target.value)?.value ?? by)}
        />
      }
    >
      <Show query={top} rows={8}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing is active" />
          ) : (
            <SimpleTable
              label="Most active findings"
              rows={data}
              keyOf={({ key }) => key}
              columns={[
                { label: groupings.find(({ value }) => value === by)?.head ?? '', cell: ({ key, label }) => <span title={key}>{label}</span> },
                {
                  label: 'Active',
                  align: 'end',
                  cell: ({ active, filter }) => (
                    <Link to="/findings" search={{ ...textsOf(filter), status: ACTIVE, sort: '-risk_score' }}>
                      <strong>{number(active)}</strong>
                    </Link>
                  ),
                },
                {
                  label: 'Critical',
                  align: 'end',
                  cell: ({ critical, filter }) =>
                    critical === 0 ? (
                      number(0)
                    ) : (
                      <Link to="/findings" search={{ ...textsOf(filter), status: ACTIVE, severity: 'critical', sort: '-risk_score' }}>
                        <strong>{number(critical)}</strong>
                      </Link>
                    ),
                },
                { label: 'Highest risk', align: 'end', cell: ({ max_risk }) => Math.round(max_risk) },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

/** A filter of the API as the query of an address: lists with commas. */
const textsOf = (filter: object): Record<string, string> => Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)]));
