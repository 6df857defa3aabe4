import type { Finding, Grade } from '@rrs/evidence-format';
import { isClosed } from '../../../findings/status.ts';
import type { ReportedEvidence } from '../context.ts';
import type { Labels } from './labels.ts';
import type { Cover, Fact } from './report-model.ts';
import { count, dateTimeUtc, day, gradeWords, personWords, severityWords, stateWords, type Tone, verdictOf, workItemStatus } from './words.ts';

const MAX_OPEN = 8;
const MAX_GAPS = 8;
const MAX_TITLE_LENGTH = 120;
const MAX_GAP_LENGTH = 240;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** The first page: the conclusion and what is missing. */
export function coverOf(evidence: ReportedEvidence, labels: Labels): Cover {
  const { conclusion, completeness, work_item, organization, sequence } = evidence;
  const open = labels.findings.filter(({ state }) => !isClosed(state));
  return {
    kicker: 'Remediation evidence',
    title: clipped(work_item.title, MAX_GAP_LENGTH),
    subtitle: `${organization.name} · work item ${work_item.external_ref ?? work_item.id} · package ${sequence}`,
    verdict: { ...verdictOf(conclusion.status, open.length), reasons: conclusion.reasons, open: openOf(open, labels) },
    completeness: {
      tone: gradeTone[completeness.grade],
      grade: completeness.grade,
      sentence: gradeWords[completeness.grade],
      gaps: shortened(
        completeness.gaps.map(({ what }) => clipped(what, MAX_GAP_LENGTH)),
        MAX_GAPS,
        'see Gaps',
      ),
    },
    bars: barsOf(evidence),
    facts: factsOf(evidence),
  };
}

const gradeTone: Readonly<Record<Grade, Tone>> = { A: 'good', B: 'good', C: 'warn', D: 'bad' };

function openOf(open: readonly Finding[], labels: Labels) {
  if (open.length === 0) return null;
  const items = open.map((finding) => {
    const due = finding.due_at === null ? '' : `, due ${day(finding.due_at)}`;
    return `${labels.of(finding.id)} ${clipped(finding.title, MAX_TITLE_LENGTH)} (${severityWords[finding.severity].label.toLowerCase()}, ${stateWords[finding.state].label.toLowerCase()}${due})`;
  });
  const verb = open.length === 1 ? 'is' : 'are';
  return { heading: `${count(open.length, 'finding')} ${verb} not closed:`, items: shortened(items, MAX_OPEN, 'see Findings') };
}

function shortened(items: string[], most: number, where: string): string[] {
  return items.length <= most ? items : [...items.slice(0, most), `and ${count(items.length - most, 'more', 'more')}, ${where}`];
}

/** The first page shortens long texts. The later pages show them in full. */
function clipped(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most).join('')}…`;
}

function barsOf({ counts }: ReportedEvidence) {
  const bars = <K extends string>(values: Readonly<Record<K, number>>, words: Readonly<Record<K, { label: string; tone: Tone }>>) =>
    (Object.keys(words) as K[]).filter((key) => values[key] > 0).map((key) => ({ ...words[key], value: values[key] }));
  return [
    { caption: 'Findings by status', bars: bars(counts.by_status, stateWords) },
    { caption: 'Findings by severity', bars: bars(counts.by_severity, severityWords) },
  ];
}

function factsOf({ work_item, as_of, generated_at, requested_by, generator, supersedes, note, package_id, counts }: ReportedEvidence): Fact[] {
  const optional: [string, string | null][] = [
    ['As of', dateTimeUtc(as_of)],
    ['Generated', `${dateTimeUtc(generated_at)} for ${personWords(requested_by)} by ${generator.name} ${generator.version}`],
    [
      'Work item',
      `${workItemStatus(work_item.status)}, created ${day(work_item.created_at)}${work_item.closed_at === null ? '' : `, closed ${day(work_item.closed_at)}`}`,
    ],
    ['Description', work_item.description === null ? null : clipped(work_item.description, MAX_DESCRIPTION_LENGTH)],
    ['Assignee', work_item.assignee],
    ['Due', work_item.due_at === null ? null : day(work_item.due_at)],
    ['Contents', [count(counts.findings, 'finding'), count(counts.scans, 'scan'), count(counts.artifacts, 'artifact')].join(', ')],
    ['Supersedes', supersedes === null ? null : `package ${supersedes.sequence} (${supersedes.package_id})`],
    ['Package ID', package_id],
    ['Note', note],
  ];
  return optional.flatMap(([label, value]) => (value === null || value === '' ? [] : [[label, value] as const]));
}
