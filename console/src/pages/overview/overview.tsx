import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Bars } from '../../parts/charts.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { SeverityChip } from '../../parts/severity.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Boundary, Empty, Show } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { number, term } from '../../parts/words.ts';
import css from './overview.module.css';
import { ACTIVE, SeverityTiles } from './severity-tiles.tsx';
import { StartList } from './start-list.tsx';

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
        {(data) => (
          <>
            <SeverityTiles stats={data} />
            <div className={css.columns}>
              <Boundary>
                <FixFirst />
              </Boundary>
              <div>
                <Boundary>
                  <Trend stats={data} />
                </Boundary>
                <Boundary>
                  <Speed stats={data} />
                </Boundary>
              </div>
            </div>
          </>
        )}
      </Show>
      <Boundary>
        <Connections />
      </Boundary>
    </Page>
  );
}

const firstQuery = { status: 'open,in_progress', sort: '-risk_score' };

function FixFirst() {
  const findings = useApi('listFindings', { query: { status: ['open', 'in_progress'], sort: '-risk_score', limit: 10 } });
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
            <Empty title="Nothing is open" />
          ) : (
            <SimpleTable
              label="Fix first"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Risk', cell: ({ risk_score }) => Math.round(risk_score) },
                { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
                {
                  label: 'Finding',
                  cell: ({ id, title, asset }) => (
                    <>
                      <div>
                        <Link to="/findings/$id" params={{ id }}>
                          {title}
                        </Link>
                      </div>
                      <div className="dim">{asset.name}</div>
                    </>
                  ),
                },
                {
                  label: 'Due',
                  cell: ({ due_at, overdue }) => (
                    <span className={overdue ? 'bad' : 'dim'}>
                      {overdue && 'Overdue '}
                      <Time at={due_at} />
                    </span>
                  ),
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

function Speed({ stats: { by_age, mean_days_to_remediate, by_status } }: { stats: Stats }) {
  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  return (
    <>
      <Section title="Age of active findings">
        <ul className={css.numbers}>
          {by_age.map(({ from_days, to_days, count }) => (
            <li key={from_days}>
              <Link
                to="/findings"
                search={{
                  status: ACTIVE,
                  ...(to_days === null ? {} : { first_seen_from: daysAgo(to_days) }),
                  ...(from_days === 0 ? {} : { first_seen_to: daysAgo(from_days) }),
                }}
              >
                <strong>{number(count)}</strong>
              </Link>
              <span className="dim">{to_days === null ? `over ${from_days} days` : `${from_days} to ${to_days} days`}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Mean days to remediate">
        <ul className={css.numbers}>
          {(['all', 'critical', 'high', 'medium', 'low'] as const).map((name) => (
            <li key={name}>
              <strong>{mean_days_to_remediate[name] === null ? '–' : mean_days_to_remediate[name].toFixed(1)}</strong>
              <span className="dim">{term(name)}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="By status">
        <ul className={css.numbers}>
          {Object.entries(by_status).map(([status, count]) => (
            <li key={status}>
              <Link to="/findings" search={{ status }}>
                <strong>{number(count)}</strong>
              </Link>
              <span className="dim">{term(status)}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function Connections() {
  const may = useMay('integrations:read');
  const health = useApi('getIntegrationHealth', {}, { enabled: may });
  if (!health.data || health.data.connections.length === 0) return null;
  return (
    <Section title="Connections" actions={<Link to="/integrations">All connections</Link>}>
      <ul className={css.numbers}>
        {Object.entries(health.data.summary).map(([name, value]) =>
          typeof value === 'number' ? (
            <li key={name}>
              <strong>{number(value)}</strong>
              <span className="dim">{term(name)}</span>
            </li>
          ) : null,
        )}
      </ul>
    </Section>
  );
}
