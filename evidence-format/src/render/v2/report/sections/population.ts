import type { Evidence } from '../../../../document/evidence.ts';
import { canonicalJson } from '../../../../json/jcs.ts';
import { PHASE_WORDS } from '../../words/labels.ts';
import { agree, count, grouped, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';

/** From the records in the scan reports to the rows of findings.csv. */
export function populationSection(evidence: Evidence, names: Names): Section {
  const { findings, unlinked, work_item } = evidence;
  const linked = findings.flatMap(({ work_items }) => work_items.filter(({ id }) => id === work_item.id).map(({ linked_at }) => linked_at)).sort();
  const elsewhere = findings.filter(({ work_items }) => work_items.some(({ id }) => id !== work_item.id)).length;
  const merged = findings.reduce((sum, finding) => sum + finding.merged.length, 0);
  const steps: [string, number, string][] = [
    [
      'Findings that were ever in the work item',
      findings.length + unlinked.length,
      'Linked by people and by rules of the organization. The audit trail has each link.',
    ],
    ['Removed from the work item', unlinked.length, 'Listed under Scope and in evidence.json under unlinked.'],
    ['Findings in this package', findings.length, 'One line each in data/findings.jsonl.'],
    ['Rows in data/findings.csv', findings.length, 'One row each, in the same order. Other formats have the same number.'],
    ['Of these, also in another work item', elsewhere, 'Column work_items.'],
    ['Findings that a person merged into them', merged, 'Column merged. The worse state counts.'],
  ];
  const times =
    linked.length === 0
      ? 'No finding states when it was linked to this work item.'
      : `The findings were linked to the work item from ${second(linked[0] ?? '')} to ${second(linked.at(-1) ?? '')} UTC.`;
  return {
    id: 'population',
    heading: 'Population and reconciliation',
    blocks: [
      words(
        `${times} No sample was drawn: every finding of the work item is in the package. ${unseen(findings)}A record of a report that is not in the item belongs to another finding, or describes one together with other records.`,
      ),
      ...table(
        'From the work item to the files',
        { Step: 40, Number: 12, Note: 48 },
        {
          headed: true,
          rows: steps.map(([step, number, note]) => [[line(step)], [line(grouped(number), 'strong')], [line(note, 'quiet')]]),
        },
      ),
      ...selectionTable(evidence),
      ...reports(evidence, names),
    ],
  };
}

function selectionTable({ selections }: Evidence) {
  const { shown, more } = first(selections, MOST.selections, 'data/evidence.json');
  return [
    ...table(
      'How the findings were selected',
      { 'When (UTC)': 18, Who: 20, Findings: 12, Selection: 50 },
      {
        headed: true,
        empty: 'The audit trail of this package does not show how the findings were selected.',
        rows: shown.map(({ at, by, linked, filter, reason }): Cell[] => [
          [line(second(at))],
          [line(clipped(by.name, LENGTH.name))],
          [line(grouped(linked), 'strong')],
          [line(filter === null ? clipped(reason ?? 'Named one by one', LENGTH.text) : clipped(`Filter ${canonicalJson(filter)}`, LENGTH.text))],
        ]),
      },
    ),
    ...more,
  ];
}

function unseen(findings: Evidence['findings']): string {
  const [before, after] = (['before', 'after'] as const).map((side) => findings.filter((finding) => finding[side].scan === null).length);
  return `${count(before ?? 0, 'finding')} ${agree(before ?? 0, 'has', 'have')} no scan before the fix, and ${grouped(after ?? 0)} ${agree(after ?? 0, 'has', 'have')} none after it. `;
}

function reports({ findings }: Evidence, names: Names) {
  const [before, after] = (['before', 'after'] as const).map((side) => {
    const tally = new Map<string, number>();
    for (const finding of findings) tally.set(finding[side].scan ?? '', (tally.get(finding[side].scan ?? '') ?? 0) + 1);
    return tally;
  });
  const { shown, more } = first(names.scans, MOST.scans, 'data/evidence.json');
  return [
    ...table(
      'From the scan reports to the work item',
      { Scan: 36, Records: 12, Rejected: 12, 'Not in the item': 14, 'Shows findings of the item': 13, 'No longer shows': 13 },
      {
        headed: true,
        rows: shown.map(({ id, tool, phase, records, rejected }): Cell[] => {
          const shows = before?.get(id) ?? 0;
          return [
            [line(`${names.of(id)} ${clipped(tool, LENGTH.name)}`, 'strong'), line(PHASE_WORDS[phase], 'quiet')],
            [line(grouped(records))],
            [line(grouped(rejected), rejected > 0 ? 'warn' : 'plain')],
            [line(phase === 'before' ? grouped(Math.max(0, records - rejected - shows)) : '–')],
            [line(grouped(shows))],
            [line(grouped(after?.get(id) ?? 0))],
          ];
        }),
      },
    ),
    ...more,
  ];
}
