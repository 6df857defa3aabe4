import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/client.ts';
import { Bars } from '../../parts/charts.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { SeverityChip } from '../../parts/severity.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Boundary, Empty, Show } from '../../parts/states.tsx';
import { Due } from '../../parts/time.tsx';
import { number, shortName, term } from '../../parts/words.ts';
import { Connections, Evidence, Imports, Work } from './around.tsx';
import { Numbers } from './numbers.tsx';
import css from './overview.module.css';
import { ACTIVE, SeverityTiles } from './severity-tiles.tsx';
import { StartList } from './start-list.tsx';
import { Top } from './top.tsx';

type Stats = ResultOf<'getFindingStats'>;

/** The state of things on one screen. Every number leads to the list that it counts. */
export function Overview() {
  const stats = useApi('getFindingStats', {});
  return (
    <Page title="Overview">
      <Boundary>
        <StartList hasFindings={stats.data === undefined ? null : stats.data.total > 0} />
      </Boundary>
      <Show query={stats} rows={4}>
        {(data) => <SeverityTiles stats={data} />}
      </Show>
      {/* What does not need the statistics does not wait for them. */}
      <div className={css.columns}>
        <div>
          <Boundary>
            <FixFirst />
          </Boundary>
          <Boundary>
            <Top />
          </Boundary>
        </div>
        <div>
          {stats.data && (
            <>
              <Boundary>
                <Trend stats={stats.data} />
              </Boundary>
              <Boundary>
                <Deadlines stats={stats.data} />
              </Boundary>
              <Boundary>
                <Speed stats={stats.data} />
              </Boundary>
            </>
          )}
        </div>
      </div>
      <div className={css.row}>
        {[Work, Evidence, Imports, Connections].map((Part) => (
          <Boundary key={Part.name}>
            <Part />
          </Boundary>
        ))}
      </div>
    </Page>
  );
}

const firstQuery = { fix_first: 'true', sort: '-risk_score' };

function FixFirst() {
  const findings = useApi('listFindings', { query: { fix_first: true, sort: '-risk_score', limit: 10 } });
  return (
    <Section
      title="Fix first"
      actions={
        <Link to="/findings" search={firstQuery}>
          All
        </Link>
      }
    >
      <Show query={findings} rows={10}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing to fix first">No open finding is known to be exploited, overdue or at a risk of 70 or more.</Empty>
          ) : (
            <SimpleTable
              label="Fix first"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
                { label: 'Risk', cell: ({ risk_score }) => Math.round(risk_score) },
                {
                  label: 'Finding',
                  cell: ({ id, title, asset }) => (
                    <>
                      <div>
                        <Link to="/findings/$id" params={{ id }}>
                          {title}
                        </Link>
                      </div>
                      <div className="dim" title={asset.name}>
                        {shortName(asset.name)}
                      </div>
                    </>
                  ),
                },
                {
                  label: 'Due',
                  cell: ({ due_at, overdue }) => <Due at={due_at} isOverdue={overdue} />,
                },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

function Trend({ stats: { trend } }: { stats: Stats }) {
  return (
    <Section title="Opened and closed, 30 days">
      <Bars
        label="Opened and closed"
        names={trend.map(({ from }) => from.slice(0, 10))}
        series={[
          { label: 'Opened', tone: 'strong', values: trend.map(({ opened }) => opened) },
          { label: 'Closed', tone: 'soft', values: trend.map(({ closed }) => closed) },
        ]}
      />
    </Section>
  );
}

/** How many deadlines were kept. */
function Deadlines({ stats: { trend } }: { stats: Stats }) {
  const sum = (name: 'due' | 'met' | 'missed'): number => trend.reduce((all, { sla }) => all + sla[name], 0);
  const [first, last] = [trend[0], trend.at(-1)];
  if (first === undefined || last === undefined || sum('due') === 0) return null;
  return (
    <Section title="Deadlines, 30 days">
      <Numbers
        rows={[
          { label: 'due', value: number(sum('due')), search: { due_from: first.from, due_to: last.to } },
          { label: 'met', value: number(sum('met')) },
          { label: 'missed', value: number(sum('missed')) },
        ]}
      />
    </Section>
  );
}

function Speed({ stats: { by_age, mean_days_to_remediate, by_status } }: { stats: Stats }) {
  const [now] = useState(Date.now);
  const ago = (days: number): string => `${new Date(now - days * 86_400_000).toISOString().slice(0, 19)}Z`;
  return (
    <>
      <Section title="Age of active findings">
        <Numbers
          rows={by_age.map(({ from_days, to_days, count }) => ({
            label: to_days === null ? `${from_days}+ days` : `${from_days}–${to_days} days`,
            value: number(count),
            search: {
              status: ACTIVE,
              ...(to_days === null ? {} : { first_seen_from: ago(to_days) }),
              ...(from_days === 0 ? {} : { first_seen_to: ago(from_days) }),
            },
          }))}
        />
      </Section>
      <Section title="By status">
        <Numbers rows={Object.entries(by_status).map(([status, count]) => ({ label: term(status), value: number(count), search: { status } }))} />
      </Section>
      <Section title="Mean days to remediate">
        <Numbers
          rows={(['all', 'critical', 'high', 'medium', 'low'] as const).map((name) => ({
            label: term(name),
            value: mean_days_to_remediate[name] === null ? '–' : mean_days_to_remediate[name].toFixed(1),
          }))}
        />
      </Section>
    </>
  );
}
