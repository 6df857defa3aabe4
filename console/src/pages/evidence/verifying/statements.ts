import { changeWords, checkWords, decisionWords, type EvidenceDocument, VERDICT_WORDS } from '@rrs/evidence-format';

/** What evidence.json says about controls, questions of auditors and decisions of people, in words. */
export interface Statements {
  controls: { id: string; title: string; verdict: string; tone: string; evidence: string }[];
  checks: { question: string; answer: string; result: string }[];
  decisions: Decision[];
  /** Decisions that are not listed here because there are too many. */
  more: number;
}

interface Decision {
  key: string;
  what: string;
  at: string;
  by: string;
  second: string | null;
  change: string;
  reason: string;
  findings: number;
}

const MAX_DECISIONS = 500;

export function statementsOf({ controls, checks, decisions }: Pick<EvidenceDocument, 'controls' | 'checks' | 'decisions'>): Statements {
  return {
    controls: controls.map(({ framework, control, title, verdict, evidence }) => ({
      id: `${framework} ${control}`,
      title,
      verdict: VERDICT_WORDS[verdict].label,
      tone: VERDICT_WORDS[verdict].tone,
      evidence: evidence.join(', '),
    })),
    checks: checks.map((check) => ({ ...checkWords(check), result: check.result })),
    decisions: decisions.slice(0, MAX_DECISIONS).map((decision) => ({
      key: `${decision.trail_seq} ${decision.kind}`,
      what: decisionWords(decision.kind),
      at: decision.at,
      by: decision.by.name,
      second: decision.second_person,
      change: changeWords(decision),
      reason: decision.reason ?? '',
      findings: decision.findings.count,
    })),
    more: Math.max(0, decisions.length - MAX_DECISIONS),
  };
}
