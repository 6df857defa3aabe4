import type { Evidence, Gap } from '../../../document/evidence.ts';
import { SEVERITIES, type Standing } from '../../../document/states.ts';
import type { RenderContext } from '../context.ts';
import type { Tone } from '../dispositions.ts';
import { GRADE_LEGEND, GRADE_TEXT, outcomesOf, STANDING_ORDER, verdictOf } from '../words/conclusion.ts';
import { byWeight, gapWords } from '../words/gaps.ts';
import { personWords, SEVERITY_WORDS, workItemStatus } from '../words/labels.ts';
import { count, day, grouped, secondUtc } from '../words/numbers.ts';
import { clipped } from '../words/printable.ts';
import { LENGTH, MOST } from './limits.ts';
import { type Cover, type Fact, line, type Table } from './model.ts';

export const STANDING_WORDS: Readonly<Record<Standing, { label: string; tone: Tone }>> = {
  active: { label: 'Not fixed', tone: 'bad' },
  excepted: { label: 'Excepted, not fixed', tone: 'warn' },
  aside: { label: 'Set aside by the source', tone: 'neutral' },
  remediated: { label: 'Fixed', tone: 'good' },
};

export function coverOf(evidence: Evidence, context: RenderContext): Cover {
  const { completeness, work_item } = evidence;
  const gaps = byWeight(completeness.gaps).filter(({ weight }) => weight !== 'note');
  const shown = gaps.slice(0, MOST.gapsOnCover).map((gap) => gapWords({ ...gap, values: numbersIn(gap.values) }).what);
  const more = gaps.length - shown.length;
  return {
    mark: 'Confidential: this report describes weaknesses of systems',
    kicker: 'Remediation evidence',
    verdict: { ...verdictOf(evidence), reasons: outcomesOf(evidence) },
    grade: {
      ...GRADE_TEXT[completeness.grade],
      grade: completeness.grade,
      legend: GRADE_LEGEND,
      gaps: more > 0 ? [...shown, `${count(more, 'more gap')}: see the section on gaps.`] : shown,
    },
    counts: countsTable(evidence),
    quote: { label: 'Work item, in the words of its author', text: clipped(work_item.title, LENGTH.text) },
    facts: factsOf(evidence, context),
    scope: 'This is evidence for one work item at one point in time. It is not evidence for a period or for all assets of the organization.',
  };
}

/** Names in a gap are text that users wrote, which has no place next to the verdict. */
function numbersIn(values: Gap['values']): Gap['values'] {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'number'));
}

/** The severity is the highest that a source stated, so that lowering it changes nothing here. */
function countsTable({ findings }: Evidence): Table {
  const tally = new Map<string, number>();
  const add = (key: string) => tally.set(key, (tally.get(key) ?? 0) + 1);
  for (const { standing, severity_source } of findings)
    for (const one of [standing, 'all']) for (const other of [severity_source, 'all']) add(`${one} ${other}`);
  const row = (label: string, key: string, tone: Tone | 'strong') => ({
    anchor: null,
    cells: [
      [line(label, tone)],
      ...[...SEVERITIES, 'all'].map((severity) => [line(grouped(tally.get(`${key} ${severity}`) ?? 0), severity === 'all' ? 'strong' : 'plain')]),
    ],
  });
  return {
    kind: 'table',
    heading: null,
    caption: 'Findings by outcome and severity',
    columns: [
      { heading: 'Findings by highest severity', share: 30 },
      ...SEVERITIES.map((severity) => ({ heading: SEVERITY_WORDS[severity].label, share: 10 })),
      { heading: 'All', share: 10 },
    ],
    rows: [...STANDING_ORDER.map((standing) => row(STANDING_WORDS[standing].label, standing, STANDING_WORDS[standing].tone)), row('All', 'all', 'strong')],
  };
}

function factsOf(evidence: Evidence, { sha256 }: RenderContext): Fact[] {
  const { package_id, sequence, earlier, organization, work_item, as_of, generated_at, requested_by, generator, timestamped, note } = evidence;
  const replaced = earlier.findLast(({ outcome }) => outcome !== 'failed');
  const facts: [string, string | null][] = [
    ['Organization', clipped(organization.name, LENGTH.text)],
    ['Package', `${package_id}, number ${sequence} of its work item${replaced === undefined ? '' : `; replaces number ${replaced.sequence}`}`],
    ['SHA-256', `${sha256.evidence} (data/evidence.json)`],
    ['State as of', secondUtc(as_of)],
    ['Generated', `${secondUtc(generated_at)} by ${generator.name} ${generator.version}, for ${clipped(personWords(requested_by), LENGTH.name)}`],
    [
      "Authority's time",
      timestamped
        ? 'A time-stamping authority confirmed the signature after this page was made. Its time is in proof/timestamp.tsr.'
        : 'None. The times rest on the clock of the service.',
    ],
    [
      'Work item',
      `${work_item.external_ref === null ? work_item.id : clipped(work_item.external_ref, 40)}: ${workItemStatus(work_item.status).toLowerCase()}, created ${day(work_item.created_at)}${work_item.closed_at === null ? '' : `, closed ${day(work_item.closed_at)}`}${work_item.due_at === null ? '' : `, due ${day(work_item.due_at)}`}`,
    ],
    ['Note', note === null ? null : clipped(note, LENGTH.text)],
  ];
  return facts.flatMap(([label, value]): Fact[] => (value === null || value === '' ? [] : [[label, value]]));
}
