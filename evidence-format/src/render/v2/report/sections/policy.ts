import type { Evidence } from '../../../../document/evidence.ts';
import type { PolicyVersion } from '../../../../document/scope.ts';
import { SEVERITY_WORDS } from '../../words/labels.ts';
import { count, day, second, times } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';

const DEADLINES = ['kev', 'critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
const DEADLINE_WORDS = { kev: 'Known exploited', critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', info: 'Info', unknown: 'Unknown' } as const;

export function policySection({ policies }: Evidence): Section {
  const { shown, more } = first(policies.toReversed(), MOST.policies, 'data/evidence.json');
  const changes = policies.length - 1;
  return {
    id: 'policy',
    heading: 'Policy in force',
    blocks: [
      words(
        `${changes > 0 ? `The policy was changed ${times(changes)} since the first finding was seen.` : 'The policy was not changed since the first finding was seen.'} A deadline is the earliest that any version gives: loosening never helps what is open, and a stricter version applies from its own date. The highest severity that a source stated decides.`,
      ),
      ...table(
        'Versions of the policy, newest first',
        { 'In force from (UTC)': 24, 'Days to fix': 36, 'Approval, closures, retention': 40 },
        { rows: shown.map(policyRow) },
      ),
      ...more,
      words(
        'Retention: originals that a package contains are kept as long as the service keeps the package. It never deletes packages, findings, decisions or the audit trail by age.',
      ),
    ],
  };
}

function policyRow({ effective_from, changed_by, sla, four_eyes, brake, source_ranking, retention }: PolicyVersion): Cell[] {
  const days = DEADLINES.map((key) => `${DEADLINE_WORDS[key]} ${sla[key] === null ? 'none' : sla[key]}`);
  return [
    [line(second(effective_from), 'strong'), line(changed_by === null ? 'Initial policy' : `Changed by ${clipped(changed_by.name, LENGTH.name)}`, 'quiet')],
    [line(days.slice(0, 3).join(', ')), line(days.slice(3).join(', '))],
    [
      four_eyes ? line('A second person must approve') : line('No second person required', 'warn'),
      line(`A scan that closes more than ${count(brake.findings, 'finding')} and ${percent(brake.share)} of its source waits for a person`),
      line(`Reports are deleted after ${count(retention.reports, 'day')}, runs of connections after ${count(retention.runs, 'day')}`, 'quiet'),
      ...optionalLine(source_ranking.length > 0 && `Sources by rank: ${clipped(source_ranking.join(', '), LENGTH.name)}`, 'quiet'),
    ],
  ];
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Findings whose severity a person changed, or whose current severity is below the highest that a source stated. */
export function severitySection(_: Evidence, names: Names): Section {
  const changed = names.findings.filter(({ override, severity, severity_source }) => override !== null || severity !== severity_source);
  const { shown, more } = first(changed, MOST.severities, 'data/findings.csv');
  return {
    id: 'severity',
    heading: 'Severity and its origin',
    blocks: [
      ...table(
        'Severities that were changed',
        { Finding: 38, 'Highest by a source': 16, Now: 12, 'Set by (UTC)': 17, Reason: 17 },
        {
          empty: 'No person changed a severity, and every severity is the highest that a source stated.',
          rows: shown.map(({ id, title, severity, severity_source, override }) => [
            [line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong')],
            [line(SEVERITY_WORDS[severity_source].label, SEVERITY_WORDS[severity_source].tone)],
            [line(SEVERITY_WORDS[severity].label, SEVERITY_WORDS[severity].tone)],
            override === null ? [line('A source', 'quiet')] : [line(second(override.at)), line(clipped(override.by.name, LENGTH.name), 'quiet')],
            [override === null ? line('–', 'quiet') : line(clipped(override.reason ?? 'No reason given', LENGTH.text))],
          ]),
        },
      ),
      ...more,
    ],
  };
}

/** What the organization runs on: earlier packages and the log. */
export function historyFacts({ earlier, log }: Evidence): [string, string][] {
  const outcomes = { ready: 'published', superseded: 'superseded', failed: 'not published', unfinished: 'still being made' } as const;
  return [
    ['Transparency log', `${log.origin}, epoch ${log.epoch}, started ${day(log.started_at)}`],
    [
      'Earlier packages',
      earlier.length === 0 ? 'None' : clipped(earlier.map(({ sequence, outcome }) => `${sequence} (${outcomes[outcome]})`).join(', '), LENGTH.text),
    ],
  ];
}
