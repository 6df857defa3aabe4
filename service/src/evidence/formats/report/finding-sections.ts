import type { Finding, FindingState, Scan } from '@rrs/evidence-format';
import type { ReportedEvidence } from '../context.ts';
import type { Labels } from './labels.ts';
import { type Block, type Cell, line, optionalLine, type Row, type Section, type Table } from './report-model.ts';
import { assuranceWords, count, day, humanize, severityWords, stateWords } from './words.ts';

const groups: { heading: string; states: readonly FindingState[] }[] = [
  { heading: 'Not closed', states: ['open', 'in_progress', 'remediated'] },
  { heading: 'Exceptions', states: ['risk_accepted', 'false_positive'] },
  { heading: 'Verified as fixed', states: ['verified'] },
  { heading: 'Withdrawn', states: ['withdrawn'] },
];

export function findingsSection(evidence: ReportedEvidence, labels: Labels): Section {
  const scans = new Map(evidence.scans.map((scan) => [scan.id, scan]));
  const blocks = groups.flatMap(({ heading, states }): Block[] => {
    const findings = labels.findings.filter(({ state }) => states.includes(state));
    if (findings.length === 0) return [];
    return [findingsTable(heading, findings, { labels, scans })];
  });
  const intro =
    evidence.findings.length === 0
      ? 'No findings are linked to the work item.'
      : 'Each finding, and what the scans before and after the fix reported. S1, S2 and so on are listed under Scans. All dates are in UTC.';
  return { id: 'findings', heading: 'Findings before and after', blocks: [{ kind: 'text', text: intro }, ...blocks] };
}

interface References {
  labels: Labels;
  scans: ReadonlyMap<string, Scan>;
}

function findingsTable(heading: string, findings: readonly Finding[], references: References): Table {
  return {
    kind: 'table',
    heading: `${heading} (${findings.length.toLocaleString('en-US')})`,
    caption: `Findings: ${heading.toLowerCase()}`,
    columns: [
      { heading: 'Finding', share: 34 },
      { heading: 'Severity', share: 13 },
      { heading: 'Before → after', share: 18 },
      { heading: 'Dates', share: 18 },
      { heading: 'Status', share: 17 },
    ],
    rows: {
      *[Symbol.iterator]() {
        for (const finding of findings) yield findingRow(finding, references);
      },
    },
  };
}

function findingRow(finding: Finding, { labels, scans }: References): Row {
  const label = labels.of(finding.id);
  return {
    anchor: label,
    cells: [findingCell(finding, label), severityCell(finding), comparisonCell(finding, { labels, scans }), datesCell(finding), statusCell(finding)],
  };
}

function findingCell(
  { id, title, cves, cwes, weakness, component, component_version, fixed_version, asset, place, occurrence_count }: Finding,
  label: string | null,
): Cell {
  const names = [...(cves.length > 0 ? cves : [weakness]), ...cwes.map((cwe) => `CWE-${cwe}`)].join(', ');
  const version = [component, component_version].filter(Boolean).join(' ');
  return [
    line(`${label} ${title}`, 'strong'),
    ...optionalLine(names),
    ...optionalLine(version !== '' && `${version}${fixed_version === null ? '' : ` → ${fixed_version}`}`),
    line(`${humanize(asset.type)}: ${asset.name}`),
    ...optionalLine(place, 'quiet'),
    ...optionalLine(occurrence_count > 1 && `${occurrence_count} occurrences`, 'quiet'),
    line(id, 'mono'),
  ];
}

function severityCell({ severity, cvss, kev, epss, risk_score }: Finding): Cell {
  const { label, tone } = severityWords[severity];
  return [
    line(label, tone),
    ...optionalLine(cvss && `CVSS ${cvss.score.toFixed(1)}`, 'quiet'),
    ...optionalLine(epss && `EPSS ${(epss.score * 100).toFixed(1)} %`, 'quiet'),
    ...optionalLine(kev && 'Known exploited', 'bad'),
    line(`Risk ${risk_score}`, 'quiet'),
  ];
}

function comparisonCell({ before, after, sources }: Finding, { labels, scans }: References): Cell {
  const by = (id: string | null) => {
    const scan = scans.get(id ?? '');
    return scan === undefined ? null : `${labels.of(scan.id)}, ${scan.tool}, ${day(scan.finished_at ?? scan.received_at)}`;
  };
  const afterLines = { absent: line('After: not seen', 'good'), present: line('After: still seen', 'bad'), unknown: line('After: unknown', 'warn') };
  return [
    before.state === 'present' ? line('Before: seen') : line('Before: unknown', 'warn'),
    ...optionalLine(by(before.scan), 'quiet'),
    afterLines[after.state],
    ...optionalLine(by(after.scan), 'quiet'),
    ...optionalLine(sources.length > 0 && `Sources: ${sources.join(', ')}`, 'quiet'),
  ];
}

function datesCell({ first_seen, due_at, closed_at, within_sla, last_seen }: Finding): Cell {
  return [
    line(`First ${day(first_seen)}`),
    line(`Last ${day(last_seen)}`),
    line(due_at === null ? 'No due date' : `Due ${day(due_at)}`),
    ...optionalLine(closed_at && `Closed ${day(closed_at)}`),
    ...(within_sla === null ? [] : [within_sla ? line('Within SLA', 'good') : line('SLA missed', 'bad')]),
  ];
}

function statusCell({ state, assurance, state_changed_by, state_changed_at, state_reason, reopen_count }: Finding): Cell {
  const { label, tone } = stateWords[state];
  const by = state_changed_by === null ? '' : ` by ${state_changed_by}`;
  return [
    line(label, tone),
    ...optionalLine(assurance && humanize(assuranceWords[assurance])),
    line(`${day(state_changed_at)}${by}`, 'quiet'),
    ...optionalLine(state_reason, 'quiet'),
    ...optionalLine(reopen_count > 0 && `Reopened ${count(reopen_count, 'time')}`, 'warn'),
  ];
}

export function exceptionsSection(labels: Labels): Section {
  const tables = [
    ...exceptionTable(labels, { state: 'risk_accepted', caption: 'Accepted risks', heading: 'Owner and expiry' }, ({ acceptance }) =>
      acceptance === null ? [line('No owner named', 'bad')] : [line(acceptance.owner), line(`Expires ${day(acceptance.expires_at)}`, 'warn')],
    ),
    ...exceptionTable(labels, { state: 'false_positive', caption: 'False positives', heading: 'Justification' }, ({ justification }) => [
      justification === null ? line('None given', 'bad') : line(humanize(justification)),
    ]),
  ];
  const none: Block = { kind: 'text', text: 'No risk was accepted, and no finding was judged a false positive.' };
  return { id: 'exceptions', heading: 'Exceptions', blocks: tables.length === 0 ? [none] : tables };
}

function exceptionTable(labels: Labels, table: { state: FindingState; caption: string; heading: string }, basisCell: (finding: Finding) => Cell): Block[] {
  const findings = labels.findings.filter(({ state }) => state === table.state);
  if (findings.length === 0) return [];
  const rows = findings.map((finding) => ({
    anchor: null,
    cells: [
      [line(`${labels.of(finding.id)} ${finding.title}`, 'strong' as const), line(finding.asset.name, 'quiet' as const)],
      basisCell(finding),
      [line(finding.state_reason ?? 'No reason given.')],
      [...optionalLine(finding.state_changed_by), line(day(finding.state_changed_at), 'quiet' as const)],
    ],
  }));
  const columns = [
    { heading: 'Finding', share: 34 },
    { heading: table.heading, share: 21 },
    { heading: 'Reason', share: 28 },
    { heading: 'Decided by', share: 17 },
  ];
  return [{ kind: 'table', heading: table.caption, caption: table.caption, columns, rows }];
}
