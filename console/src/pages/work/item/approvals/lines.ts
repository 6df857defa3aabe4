import type { Severity } from '../../../../parts/severity.tsx';

export interface StateFinding {
  id: string;
  state: string;
  assurance: string | null;
  provenance: string | null;
  severity: Severity;
  acceptance: { owner: string; expires_at: string | null; compensating_control: string | null } | null;
  justification: string | null;
}

interface StateLine {
  title?: string;
  policy?: { four_eyes: boolean };
  finding?: StateFinding;
  unlinked?: { id: string; state: string };
  artifact?: { id: string; type: string; sha256: string | null; url: string | null; removed: boolean };
}

/** The lines of a state: the work item first, then findings, removed findings and artifacts. A line that is not JSON is left out here and shown as it is. */
export function linesOf(lines: readonly string[]) {
  const parsed = lines.flatMap((line): StateLine[] => {
    try {
      return [JSON.parse(line) as StateLine];
    } catch {
      return [];
    }
  });
  const [first] = parsed;
  return {
    head: first?.title !== undefined && first.policy !== undefined ? { title: first.title, policy: first.policy } : null,
    findings: parsed.flatMap(({ finding }) => finding ?? []),
    unlinked: parsed.flatMap(({ unlinked }) => unlinked ?? []),
    artifacts: parsed.flatMap(({ artifact }) => artifact ?? []),
  };
}
