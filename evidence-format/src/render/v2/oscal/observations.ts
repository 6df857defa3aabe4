import type { Evidence } from '../../../document/evidence.ts';
import type { Finding } from '../../../document/finding.ts';
import type { Scan } from '../../../document/scan.ts';
import { line, oscalId } from './parts.ts';

type Scans = ReadonlyMap<string, Scan>;

const byId = (scans: readonly Scan[]): Scans => new Map(scans.map((scan) => [scan.id, scan]));

export function* observations({ findings, scans }: Evidence) {
  const known = byId(scans);
  for (const finding of findings) {
    yield observationBefore(finding, known);
    yield* observationAfter(finding, known);
  }
}

function observationBefore(finding: Finding, scans: Scans) {
  const scan = scans.get(finding.before.scan ?? '');
  return {
    ...observation(finding, 'before', scan),
    title: 'Before the fix',
    description:
      scan === undefined ? 'No scan report in this package shows the finding before the fix.' : `A scan with ${line(scan.tool)} reported the finding.`,
    collected: scan?.ended_at ?? scan?.received_at ?? finding.first_seen,
  };
}

function observationAfter(finding: Finding, scans: Scans) {
  const scan = scanAfter(finding, scans);
  if (scan === undefined) return [];
  const outcome = finding.after.state === 'absent' ? 'covered its location and did not report the finding' : 'still reported the finding';
  return [
    {
      ...observation(finding, 'after', scan),
      title: 'After the fix',
      description: `A scan with ${line(scan.tool)} ${outcome}.`,
      collected: scan.ended_at ?? scan.received_at,
    },
  ];
}

function scanAfter({ after }: Finding, scans: Scans): Scan | undefined {
  return after.state === 'unknown' ? undefined : scans.get(after.scan ?? '');
}

function observation({ id, asset }: Finding, phase: 'before' | 'after', scan: Scan | undefined) {
  return {
    uuid: oscalId(`observation-${phase}`, id),
    methods: [scan === undefined ? 'EXAMINE' : 'TEST'],
    types: ['finding'],
    subjects: [{ 'subject-uuid': oscalId('asset', asset.id), type: 'inventory-item', title: line(asset.name) }],
    ...(scan === undefined ? {} : { 'relevant-evidence': [{ href: `#${oscalId('scan', scan.id)}`, description: `Report of scan ${scan.id}.` }] }),
  };
}

export function relatedObservations({ scans }: Evidence): (finding: Finding) => { 'observation-uuid': string }[] {
  const known = byId(scans);
  return (finding) => {
    const phases = scanAfter(finding, known) === undefined ? ['before'] : ['before', 'after'];
    return phases.map((phase) => ({ 'observation-uuid': oscalId(`observation-${phase}`, finding.id) }));
  };
}
