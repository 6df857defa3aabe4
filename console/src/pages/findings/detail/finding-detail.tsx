import type { Finding } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useSourceNames } from '../../../api/source-names.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Comments } from '../../../parts/objects/comments.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { SafeLink } from '../../../parts/safe-link.tsx';
import { SeverityChip } from '../../../parts/severity.tsx';
import { Boundary } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Due, Time } from '../../../parts/time.tsx';
import { day, term } from '../../../parts/words.ts';
import { Decisions } from './decisions.tsx';
import css from './finding-detail.module.css';
import { History } from './history.tsx';
import { Identity } from './identity.tsx';
import { Places } from './places.tsx';
import { Sightings } from './sightings.tsx';

/** Everything about one finding, the most important first. Each part fails alone. */
export function FindingDetail({ finding }: { finding: Finding }) {
  const parts = [Merged, Summary, Why, Decisions, Risk, Sightings, Places, Work, Text, Talk, Identity, History];
  return (
    <div className={css.detail}>
      {parts.map((Part) => (
        <Boundary key={Part.name}>
          <Part finding={finding} />
        </Boundary>
      ))}
    </div>
  );
}

interface Part {
  finding: Finding;
}

function Merged({ finding: { merged_into } }: Part) {
  if (merged_into === null) return null;
  return (
    <p role="note">
      This finding was merged into{' '}
      <Link to="/findings/$id" params={{ id: merged_into }}>
        another one
      </Link>
      , which has its sightings and its status. “Identity” below separates them again.
    </p>
  );
}

function Summary({ finding }: Part) {
  const { location, asset, kev, epss, cvss } = finding;
  return (
    <Facts
      rows={[
        ['Status', <StatusMark key="status" status={finding.status} />],
        ['Reason', finding.status_reason],
        ['Severity', <SeverityChip key="severity" severity={finding.severity} />],
        [
          'Overridden',
          finding.severity_override &&
            `by ${finding.severity_override.by}: ${finding.severity_override.reason} (sources: ${term(finding.severity_override.source_severity)})`,
        ],
        ['Due', finding.due_at && <Due key="due" at={finding.due_at} isOverdue={finding.overdue} />],
        [
          'Asset',
          <Link key="asset" to="/assets/$id" params={{ id: asset.id }}>
            {asset.name}
          </Link>,
        ],
        [
          'Component',
          location.component && (
            <span className="mono">
              {location.component} {location.version}
            </span>
          ),
        ],
        [
          'Fixed in',
          location.fixed_version ? (
            <span key="fixed" className="mono">
              {location.fixed_version}
            </span>
          ) : (
            location.component && !finding.fix_published_date && 'No fix is known'
          ),
        ],
        ['Fix available since', finding.fix_published_date && day(finding.fix_published_date)],
        [
          'Path',
          location.path && (
            <span className="mono">
              {location.path}
              {location.line === null ? '' : `:${location.line}`}
            </span>
          ),
        ],
        [
          'Address',
          location.url && (
            <span className="mono">
              {location.method} {location.url}
            </span>
          ),
        ],
        ['Port', location.port && `${location.port}/${location.protocol ?? ''}`],
        ['Resource', location.resource && <span className="mono">{location.resource}</span>],
        ['Vulnerability', finding.vulnerability_ids.length > 0 && finding.vulnerability_ids.map((each) => <Copy key={each} text={each} shown={each} />)],
        ['CWE', finding.cwes.length > 0 && finding.cwes.map((each) => `CWE-${each}`).join(', ')],
        ['Exploited', kev.listed && `Known to be exploited${kev.due_date ? `; CISA asks for a fix by ${day(kev.due_date)}` : ''}`],
        ['EPSS', epss && `${(epss.score * 100).toFixed(1)} %${epss.date ? `, ${day(epss.date)}` : ''}`],
        [
          'CVSS',
          cvss && (
            <span>
              {cvss.score} <span className="dim mono">{cvss.vector}</span>
            </span>
          ),
        ],
        ['First seen', <Time key="first" at={finding.first_seen} />],
        ['Last seen', <Time key="last" at={finding.last_seen} />],
        ['Tags', finding.tags.length > 0 && finding.tags.join(', ')],
        ['ID', <Copy key="id" text={finding.id} />],
      ].map(([name, value]) => [String(name), value === false ? null : value] as const)}
    />
  );
}

function Why({ finding: { still_open_because } }: Part) {
  const nameOf = useSourceNames();
  if (still_open_because.length === 0) return null;
  return (
    <Section title="Why it is still open">
      <ul className={css.list}>
        {still_open_because.map(({ source, code, sentence, track }) => (
          <li key={`${source.id} ${track} ${code}`}>
            {sentence} <span className="dim">{nameOf(source)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Risk({ finding: { risk } }: Part) {
  return (
    <Section title={`Risk ${Math.round(risk.score)} of 100`}>
      <table className={css.risk}>
        <tbody>
          {risk.factors.map(({ name, input, points, date }) => (
            <tr key={name}>
              <th scope="row">{term(name)}</th>
              <td>
                {input}
                {date && <span className="dim"> {day(date)}</span>}
              </td>
              <td>
                <span className={css.bar}>
                  <span style={{ width: `${Math.min(100, points)}%` }} />
                </span>
              </td>
              <td className={css.points}>{points.toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Work({ finding: { work_items } }: Part) {
  if (work_items.length === 0) return null;
  return (
    <Section title="Work items">
      <ul className={css.list}>
        {work_items.map(({ id, title, status }) => (
          <li key={id}>
            <Link to="/work/$id" params={{ id }}>
              {title}
            </Link>{' '}
            <span className="dim">{term(status)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Talk({ finding: { id } }: Part) {
  return <Comments of="finding" id={id} />;
}

function Text({ finding: { description, solution, references } }: Part) {
  return (
    <>
      {description && (
        <Section title="Description">
          <p className={css.text}>{description}</p>
        </Section>
      )}
      {solution && (
        <Section title="Solution">
          <p className={css.text}>{solution}</p>
        </Section>
      )}
      {references.length > 0 && (
        <Section title="References">
          <ul className={css.list}>
            {references.slice(0, 20).map((each) => (
              <li key={each}>
                <SafeLink href={each} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
