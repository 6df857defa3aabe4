import type { Control, Evidence } from '@rrs/evidence-format';

type Facts = Pick<Evidence, 'findings' | 'scans' | 'artifacts' | 'approvals'>;
type Part = 'findings' | 'before' | 'after' | 'change' | 'approvals' | 'exceptions' | 'trail' | 'sla';

/** Which parts of a package relate to which control. These are suggestions: the auditor decides what counts. */
const SUGGESTED: readonly { framework: string; control: string; title: string; parts: readonly Part[] }[] = [
  { framework: 'SOC 2', control: 'CC7.1', title: 'Vulnerabilities are detected', parts: ['findings', 'before'] },
  { framework: 'SOC 2', control: 'CC7.4', title: 'Response to identified weaknesses', parts: ['after', 'trail', 'exceptions'] },
  { framework: 'SOC 2', control: 'CC8.1', title: 'Changes are authorized, tested and approved', parts: ['change', 'approvals'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.8.8', title: 'Management of technical vulnerabilities', parts: ['findings', 'before', 'after', 'sla'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.8.32', title: 'Change management', parts: ['change', 'approvals'] },
  { framework: 'ISO/IEC 27001:2022', control: 'A.5.28', title: 'Collection of evidence', parts: ['trail'] },
  { framework: 'PCI DSS 4.0.1', control: '6.3.1', title: 'Vulnerabilities are identified and ranked', parts: ['findings'] },
  { framework: 'PCI DSS 4.0.1', control: '6.3.3', title: 'Critical patches are installed in time', parts: ['sla', 'after'] },
  { framework: 'PCI DSS 4.0.1', control: '11.3.1', title: 'Internal vulnerability scans and confirming rescans', parts: ['before', 'after'] },
  { framework: 'NIST SP 800-53 r5', control: 'SI-2', title: 'Flaw remediation', parts: ['findings', 'after', 'change', 'sla'] },
  { framework: 'NIST SP 800-53 r5', control: 'RA-5', title: 'Vulnerability monitoring and scanning', parts: ['before', 'after'] },
  { framework: 'NIST SP 800-53 r5', control: 'CM-3', title: 'Configuration change control', parts: ['change', 'approvals'] },
  { framework: 'NIST SP 800-53 r5', control: 'AU-10', title: 'Non-repudiation', parts: ['trail'] },
  {
    framework: 'FedRAMP',
    control: 'ConMon',
    title: 'Continuous monitoring: scans, POA&M items and their closure',
    parts: ['findings', 'before', 'after', 'sla'],
  },
];

export function controlsOf({ findings, scans, artifacts, approvals }: Facts): Control[] {
  const present: Record<Part, string[]> = {
    findings: findings.length > 0 ? ['findings', 'data/findings.csv'] : [],
    before: scans.some(({ phase }) => phase === 'before') ? ['data/scans/before'] : [],
    after: scans.some(({ phase }) => phase === 'after') ? ['data/scans/after'] : [],
    change: artifacts.some(({ removed }) => removed === null) ? ['artifacts'] : [],
    approvals: approvals.length > 0 ? ['approvals'] : [],
    exceptions: findings.some(({ state }) => state === 'risk_accepted' || state === 'false_positive') ? ['findings'] : [],
    trail: ['data/audit-trail.jsonl', 'data/timeline.json'],
    sla: findings.some(({ due_at }) => due_at !== null) ? ['findings'] : [],
  };
  return SUGGESTED.flatMap(({ parts, ...control }) => {
    const evidence = [...new Set(parts.flatMap((part) => present[part]))];
    return evidence.length === 0 ? [] : [{ ...control, evidence }];
  });
}
