import type { Evidence } from '../../../../document/evidence.ts';
import type { Acceptance, Finding } from '../../../../document/finding.ts';
import { describe, dispositionOf } from '../../dispositions.ts';
import { roleWords, SEVERITY_WORDS } from '../../words/labels.ts';
import { day, humanize, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Block, type Cell, type Line, line, optionalLine, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';

export function exceptionsSection(evidence: Evidence, names: Names): Section {
  const { as_of } = evidence;
  const { shown, more } = first(
    names.findings.filter(({ standing }) => standing === 'excepted'),
    MOST.exceptions,
    'data/findings.csv',
  );
  return {
    id: 'exceptions',
    heading: 'Exceptions',
    blocks: [
      ...table(
        'Exceptions',
        { Finding: 32, 'Kind, owner, end': 22, 'Cause and compensation': 26, 'Decided by (UTC)': 20 },
        {
          empty: 'No finding was closed by a decision.',
          rows: shown.map((finding) => [findingCell(finding, names), basisCell(finding, as_of), reasonCell(finding), deciderCell(finding, names)]),
        },
      ),
      ...more,
      words('The cause and the compensating control are as stated by the person who decided. The package does not show whether the control works.'),
      ...missedDeadlines(evidence, names),
    ],
  };
}

/** Deviations from the policy that nobody decided on. */
function missedDeadlines({ as_of }: Evidence, names: Names): Block[] {
  const missed = names.findings.filter(({ within_sla }) => within_sla === false);
  const { shown, more } = first(missed, MOST.missed, 'data/findings.csv');
  if (shown.length === 0) return [];
  return [
    ...table(
      'Deadlines that were missed',
      { Finding: 40, 'Due and closed (UTC)': 30, 'Cause, as stated': 30 },
      {
        rows: shown.map((finding) => {
          const { id, title, due_at, closed_at, state_reason } = finding;
          return [
            [line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong')],
            [
              ...optionalLine(due_at && `Due ${second(due_at)}`),
              line(closed_at === null ? `Not closed by ${day(as_of)}` : `Closed ${second(closed_at)}`, 'bad'),
            ],
            [state_reason === null || state_reason === '' ? line('No cause given', 'warn') : line(clipped(state_reason, LENGTH.text))],
          ];
        }),
      },
    ),
    ...more,
  ];
}

function findingCell({ id, title, asset, severity_source }: Finding, names: Names): Cell {
  const { label, tone } = SEVERITY_WORDS[severity_source];
  return [line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong'), line(label, tone), line(clipped(asset.name, LENGTH.name), 'quiet')];
}

function basisCell(finding: Finding, asOf: string): Cell {
  const { label, tone } = describe(finding);
  const { acceptance } = finding;
  if (acceptance === null) return [line(label, tone), ...(dispositionOf(finding) === 'false_positive' ? [] : [line('No risk owner, no end', 'bad')])];
  const { owner, expires_at } = acceptance;
  const end = expires_at === null ? line('No end', 'bad') : expires_at <= asOf ? line(`Ended ${day(expires_at)}`, 'bad') : line(`Ends ${day(expires_at)}`);
  return [line(label, tone), line(`Owner: ${clipped(owner, LENGTH.name)}`), end];
}

function reasonCell({ state_reason, justification, acceptance }: Finding): Cell {
  return [
    ...optionalLine(justification !== null && humanize(clipped(justification, LENGTH.name)), 'strong'),
    state_reason === null || state_reason === '' ? line('No reason given', 'warn') : line(clipped(state_reason, LENGTH.text)),
    ...(acceptance === null ? [] : [controlLine(acceptance)]),
  ];
}

function controlLine({ compensating_control }: Acceptance): Line {
  if (compensating_control === null) return line('No compensating control named', 'warn');
  return line(`Compensating control: ${clipped(compensating_control, LENGTH.text)}`);
}

function deciderCell({ decided_by, state_changed_at, acceptance }: Finding, names: Names): Cell {
  const second_person = acceptance?.approved_by ?? null;
  return [
    line(second(state_changed_at)),
    ...(decided_by === null
      ? [line('Nobody named', 'warn')]
      : [line(clipped(decided_by.name, LENGTH.name)), line(roleWords(names.person(decided_by)), 'quiet')]),
    ...(acceptance === null
      ? []
      : [second_person === null ? line('No second person', 'warn') : line(`Approved by ${clipped(second_person.name, LENGTH.name)}`)]),
  ];
}
