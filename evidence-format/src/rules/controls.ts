import type { Control, Counts, Gap, GapCode } from '../document/evidence.ts';

/** What a control is about. A package shows each part, shows that it was not done, or says nothing about it. */
type Part = 'findings' | 'before' | 'after' | 'change' | 'approvals' | 'exceptions' | 'trail' | 'deadlines';

interface PartRule {
  evidence: readonly string[];
  present(facts: ControlFacts): boolean;
  /** Gaps of any weight but a note that speak against it. */
  against: readonly GapCode[];
  /** Without exceptions or deadlines there is nothing to show. */
  optional?: true;
}

export interface ControlFacts {
  counts: Counts;
  approvals: number;
  /** Number of current artifacts. */
  artifacts: number;
  events: number;
  beforeScans: number;
  afterScans: number;
  deadlines: number;
  gaps: readonly Gap[];
  /** Empty: all of them. */
  frameworks: readonly string[];
}

const PARTS: Readonly<Record<Part, PartRule>> = {
  findings: { evidence: ['data/findings.jsonl'], present: ({ counts }) => counts.findings > 0, against: ['unlinked_active', 'unlinked_excepted'] },
  before: { evidence: ['data/scans/before'], present: ({ beforeScans }) => beforeScans > 0, against: ['no_scan_before'] },
  after: {
    evidence: ['data/scans/after'],
    present: ({ afterScans, counts }) => afterScans > 0 || counts.findings > 0,
    against: [
      'unfinished',
      'no_rescan',
      'scan_by_worker',
      'scan_self_described',
      'scan_copied',
      'scan_contradicts',
      'scan_failed',
      'verifier_took_part',
      'source_removed',
      'version_not_rescanned',
      'scan_older_than_claim',
      'withdrawn_by_person',
      'asset_gone',
    ],
  },
  change: { evidence: ['artifacts'], present: ({ artifacts }) => artifacts > 0, against: ['no_artifact'] },
  approvals: {
    evidence: ['approvals'],
    present: ({ approvals }) => approvals > 0,
    against: ['no_approval', 'approval_stale', 'approver_took_part', 'rejected'],
  },
  exceptions: {
    evidence: ['data/findings.jsonl', 'decisions'],
    present: ({ counts }) => counts.by_standing.excepted > 0,
    against: ['exception_self_decided', 'exception_without_end', 'exception_expired', 'withdrawn_by_person', 'asset_gone'],
    optional: true,
  },
  trail: { evidence: ['data/audit-trail.jsonl'], present: ({ events }) => events > 0, against: [] },
  deadlines: {
    evidence: ['data/findings.jsonl', 'policies'],
    present: ({ deadlines }) => deadlines > 0,
    against: ['sla_missed', 'kev_past_due'],
    optional: true,
  },
};

const CONTROLS: readonly { framework: string; control: string; title: string; parts: readonly Part[] }[] = [
  { framework: 'SOC 2', control: 'CC7.1', title: 'Vulnerabilities are detected', parts: ['findings', 'before'] },
  { framework: 'SOC 2', control: 'CC7.4', title: 'Response to identified weaknesses', parts: ['after', 'trail', 'exceptions'] },
  { framework: 'SOC 2', control: 'CC8.1', title: 'Changes are authorized, tested and approved', parts: ['change', 'approvals'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.8.8', title: 'Management of technical vulnerabilities', parts: ['findings', 'before', 'after', 'deadlines'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.8.32', title: 'Change management', parts: ['change', 'approvals'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.5.28', title: 'Collection of evidence', parts: ['trail'] },
  { framework: 'PCI DSS 4.0.1', control: '6.3.1', title: 'Vulnerabilities are identified and ranked', parts: ['findings'] },
  { framework: 'PCI DSS 4.0.1', control: '6.3.3', title: 'Critical patches are installed in time', parts: ['after', 'deadlines'] },
  { framework: 'PCI DSS 4.0.1', control: '11.3.1', title: 'Internal vulnerability scans and confirming rescans', parts: ['before', 'after'] },
  { framework: 'NIST SP 800-53 r5', control: 'SI-2', title: 'Flaw remediation', parts: ['findings', 'after', 'change', 'deadlines'] },
  { framework: 'NIST SP 800-53 r5', control: 'RA-5', title: 'Vulnerability monitoring and scanning', parts: ['before', 'after'] },
  { framework: 'NIST SP 800-53 r5', control: 'CM-3', title: 'Configuration change control', parts: ['change', 'approvals'] },
  { framework: 'NIST SP 800-53 r5', control: 'AU-10', title: 'Non-repudiation', parts: ['trail'] },
  {
    framework: 'FedRAMP',
    control: 'ConMon',
    title: 'Continuous monitoring: scans, POA&M items and their closure',
    parts: ['findings', 'before', 'after', 'deadlines'],
  },
];

export const FRAMEWORKS: readonly string[] = [...new Set(CONTROLS.map(({ framework }) => framework))];

/** What the package says about each control. The auditor decides what counts. */
export function controlsOf(facts: ControlFacts): Control[] {
  const failed = new Set(facts.gaps.flatMap(({ code, weight }) => (weight === 'note' ? [] : [code])));
  const isChosen = ({ framework }: { framework: string }): boolean => facts.frameworks.length === 0 || facts.frameworks.includes(framework);
  return CONTROLS.filter(isChosen).map(({ parts, ...control }) => {
    const shown = parts.filter((part) => PARTS[part].present(facts));
    const evidence = [...new Set(shown.flatMap((part) => PARTS[part].evidence))];
    return { ...control, verdict: verdictOf(parts, shown, failed), evidence };
  });
}

function verdictOf(parts: readonly Part[], shown: readonly Part[], failed: ReadonlySet<GapCode>): Control['verdict'] {
  const required = parts.filter((part) => !PARTS[part].optional);
  if (!required.some((part) => shown.includes(part))) return 'not_addressed';
  const complete = required.every((part) => shown.includes(part));
  return complete && !shown.some((part) => PARTS[part].against.some((code) => failed.has(code))) ? 'supports' : 'does_not_support';
}
