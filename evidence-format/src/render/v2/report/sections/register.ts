import type { Decision } from '../../../../document/decisions.ts';
import type { Evidence } from '../../../../document/evidence.ts';
import { SEVERITIES } from '../../../../document/states.ts';
import { groupedBy } from '../../sequences.ts';
import { changeWords, decisionWords } from '../../words/decisions.ts';
import { roleWords, SEVERITY_WORDS } from '../../words/labels.ts';
import { count, grouped, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { LENGTH, MOST } from '../limits.ts';
import { type Block, type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import { listNames, type Names } from '../names.ts';

/** Page 2: every human act that made the result look better. */
export function registerSection({ decisions }: Evidence, names: Names): Section {
  const shown = decisions.slice(0, MOST.decisions);
  const rest = decisions.slice(MOST.decisions);
  return {
    id: 'decisions',
    heading: 'Decision register',
    blocks: [
      words(
        'Every act of a person that made the result look better: findings withdrawn, removed, accepted or dismissed, severities lowered, policies loosened, scans discarded. The list is computed from the audit trail, and nobody can leave an entry out.',
      ),
      ...table(
        'Decisions',
        { 'When (UTC)': 13, Act: 26, 'Who, role, sign-in': 19, Concerns: 22, Reason: 20 },
        { rows: shown.map((decision) => row(decision, names)), empty: 'No such act is recorded.' },
      ),
      ...summary(rest),
    ],
  };
}

function row(decision: Decision, names: Names): Cell[] {
  const { at, kind, by, object, reason, second_person, trail_seq, findings } = decision;
  const facts = names.person({ person: by.person, id: null });
  const title = names.titleOf(object.id);
  const severities = SEVERITIES.filter((severity) => findings.by_severity[severity] > 0).map(
    (severity) => `${grouped(findings.by_severity[severity])} ${SEVERITY_WORDS[severity].label.toLowerCase()}`,
  );
  return [
    [line(second(at)), line(`Trail line ${trail_seq}`, 'quiet')],
    [line(decisionWords(kind), 'strong'), ...optionalLine(clipped(changeWords(decision), LENGTH.text))],
    [
      line(clipped(by.name, LENGTH.name)),
      line(roleWords(facts), 'quiet'),
      ...optionalLine(second_person !== null && `Second person: ${names.titleOf(second_person) ?? second_person}`, 'quiet'),
    ],
    [
      ...optionalLine(title !== null && clipped([names.of(object.id), title].filter((part) => part !== null).join(' '), LENGTH.title)),
      ...optionalLine(findings.count > 0 && `${count(findings.count, 'finding')} (${severities.join(', ')})`),
      ...optionalLine(findings.ids.length > 0 && `${listNames(findings.ids, names, 8)}${findings.count > findings.ids.length ? ' …' : ''}`, 'quiet'),
      ...(title === null && findings.count === 0 ? [line(object.type.replaceAll('_', ' ')), line(object.id, 'mono')] : []),
    ],
    [reason === null || reason === '' ? line('No reason given', 'warn') : line(clipped(reason, LENGTH.text))],
  ];
}

/** Acts that do not fit are grouped by kind and person, so that every one of them is counted. */
function summary(rest: readonly Decision[]): Block[] {
  if (rest.length === 0) return [];
  const groups = [...groupedBy(rest, ({ kind, by }) => `${kind} ${by.person ?? by.name}`).values()];
  return [
    words(`${count(rest.length, 'more act')}, grouped by kind and person. data/evidence.json has each of them under decisions.`),
    ...table(
      'Further decisions',
      { Act: 34, Who: 26, Acts: 12, Findings: 12, 'From and to (UTC)': 16 },
      {
        rows: groups
          .slice(0, MOST.decisions)
          .map((group) => [
            [line(decisionWords(group[0]?.kind ?? 'withdraw'), 'strong')],
            [line(clipped(group[0]?.by.name ?? '', LENGTH.name))],
            [line(grouped(group.length))],
            [line(grouped(group.reduce((sum, { findings }) => sum + findings.count, 0)))],
            [line(second(group[0]?.at ?? '')), line(second(group.at(-1)?.at ?? ''))],
          ]),
      },
    ),
  ];
}
