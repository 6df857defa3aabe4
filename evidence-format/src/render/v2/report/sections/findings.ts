import type { Evidence } from '../../../../document/evidence.ts';
import type { Finding } from '../../../../document/finding.ts';
import { describe } from '../../dispositions.ts';
import { STANDING_ORDER } from '../../words/conclusion.ts';
import { ASSURANCE_WORDS, PROVENANCE_WORDS, SEVERITY_WORDS } from '../../words/labels.ts';
import { count, day, grouped, humanize, second, times } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { STANDING_WORDS } from '../cover.ts';
import { LENGTH, MOST } from '../limits.ts';
import { type Block, type Cell, line, optionalLine, type Row, type Section, words } from '../model.ts';
import type { Names } from '../names.ts';
import { doubtLines } from './doubts.ts';

const PATCHES =
  'Release and installation of patches: “Fix published” is the earliest date that a source states for a fix, “Claimed” is when a person said that it is installed, and “Closed” is when the finding was closed. The outcome says whether a scan verified it.';

export function findingsSection({ findings }: Evidence, names: Names): Section {
  const shown = names.findings.slice(0, MOST.findings);
  const intro =
    findings.length === 0
      ? 'No findings are linked to the work item.'
      : shown.length === findings.length
        ? 'S1, S2 and so on are listed under Scans. Dates are in UTC. Histories, occurrences and scores are in data/findings.jsonl and data/findings.csv.'
        : `This section shows ${grouped(shown.length)} of ${count(findings.length, 'finding')}: what is not fixed first, then the most severe. data/findings.csv has all of them.`;
  return {
    id: 'findings',
    heading: 'Findings before and after',
    blocks: [
      words(intro),
      ...(shown.some(({ fix_published_date }) => fix_published_date !== null) ? [words(PATCHES)] : []),
      ...STANDING_ORDER.flatMap((standing): Block[] => {
        const its = shown.filter((finding) => finding.standing === standing);
        const all = findings.filter((finding) => finding.standing === standing).length;
        if (its.length === 0) return [];
        const { label } = STANDING_WORDS[standing];
        const number = its.length === all ? grouped(all) : `${grouped(its.length)} of ${grouped(all)}`;
        return [
          {
            kind: 'table',
            heading: `${label} (${number})`,
            caption: `Findings: ${label.toLowerCase()}`,
            columns: [
              { heading: 'Finding', share: 32 },
              { heading: 'Severity', share: 11 },
              { heading: 'Before → after', share: 19 },
              { heading: 'Dates', share: 19 },
              { heading: 'Outcome', share: 19 },
            ],
            rows: its.map((finding) => findingRow(finding, names)),
          },
        ];
      }),
    ],
  };
}

function findingRow(finding: Finding, names: Names): Row {
  return {
    anchor: names.of(finding.id),
    cells: [findingCell(finding, names), severityCell(finding), comparisonCell(finding, names), datesCell(finding), outcomeCell(finding)],
  };
}

function findingCell({ id, title, cves, weakness, component, component_version, fixed_version, asset, place, occurrence_count }: Finding, names: Names): Cell {
  const ids = cves.length > 0 ? cves : [weakness];
  const version = [component, component_version].filter((part) => part !== null && part !== '').join(' ');
  return [
    line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong'),
    line(clipped(`${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ` and ${ids.length - 3} more` : ''}`, LENGTH.name)),
    ...optionalLine(version !== '' && clipped(`${version}${fixed_version === null ? '' : ` → ${fixed_version}`}`, LENGTH.name)),
    line(clipped(`${humanize(asset.type)}: ${asset.name}`, LENGTH.title)),
    ...optionalLine(place !== null && clipped(place, LENGTH.name), 'quiet'),
    ...optionalLine(occurrence_count > 1 && count(occurrence_count, 'occurrence'), 'quiet'),
  ];
}

function severityCell({ severity, severity_source, cvss, kev }: Finding): Cell {
  const { label, tone } = SEVERITY_WORDS[severity_source];
  return [
    line(label, tone),
    ...optionalLine(severity !== severity_source && `Now ${SEVERITY_WORDS[severity].label.toLowerCase()}`, 'warn'),
    ...optionalLine(cvss && `CVSS ${cvss.score.toFixed(1)}`, 'quiet'),
    ...optionalLine(kev && 'Known exploited', 'bad'),
  ];
}

function comparisonCell({ before, after, contradicted_by, provenance }: Finding, names: Names): Cell {
  const by = (id: string | null) => {
    const scan = names.scan(id);
    return scan !== undefined && `${names.of(scan.id)}, ${day(scan.ended_at ?? scan.received_at)}`;
  };
  const afterLines = { absent: line('After: not seen', 'good'), present: line('After: still seen', 'bad'), unknown: line('After: unknown', 'warn') };
  return [
    before.state === 'present' ? line('Before: seen') : line('Before: unknown', 'warn'),
    ...optionalLine(by(before.scan), 'quiet'),
    afterLines[after.state],
    ...[after.scan, ...after.others].flatMap((scan) => optionalLine(by(scan), 'quiet')),
    ...optionalLine(after.scan !== null && provenance !== null && PROVENANCE_WORDS[provenance].label, 'quiet'),
    ...doubtLines(after.doubts),
    ...optionalLine(contradicted_by !== null && `Seen by ${names.of(contradicted_by) ?? 'another scan'} since the claim`, 'bad'),
  ];
}

function datesCell({ first_seen, fix_published_date, due_at, closed_at, within_sla, claimed_at, reopen_count }: Finding): Cell {
  return [
    line(`First ${day(first_seen)}`),
    ...optionalLine(fix_published_date && `Fix published ${fix_published_date}`),
    ...optionalLine(claimed_at && `Claimed ${day(claimed_at)}`),
    ...optionalLine(closed_at && `Closed ${day(closed_at)}`),
    line(due_at === null ? 'No deadline' : `Due ${day(due_at)}`),
    ...(within_sla === null ? [] : [within_sla ? line('In time', 'good') : line('Late', 'bad')]),
    ...optionalLine(reopen_count > 0 && `Reopened ${times(reopen_count)}`, 'warn'),
  ];
}

function outcomeCell(finding: Finding): Cell {
  const { label, tone } = describe(finding);
  const { assurance, decided_by, state_changed_at, cause, state_reason } = finding;
  const by = cause === 'scan' ? ' by a scan' : decided_by === null ? '' : ` by ${clipped(decided_by.name, LENGTH.name)}`;
  return [
    line(label, tone),
    ...optionalLine(assurance && ASSURANCE_WORDS[assurance]),
    line(`${second(state_changed_at)}${by}`, 'quiet'),
    ...optionalLine(state_reason !== null && clipped(state_reason, LENGTH.title), 'quiet'),
  ];
}
