import { arr, date, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import type { Knowledge } from '../../core/contract.ts';
import { knowledgeOf, requiredCve } from '../../core/knowledge.ts';
import type { Ssvc } from '../../core/ssvc.ts';

const METRICS = ['cvssMetricV40', 'cvssMetricV31', 'cvssMetricV30', 'cvssMetricV2'] as const;

/** Null for rejected CVEs. */
export function cveOf(record: unknown): Knowledge | null {
  const cve = obj(obj(record).cve);
  const id = requiredCve(cve.id, 'cve.id');
  if (str(cve.vulnStatus)?.toLowerCase() === 'rejected') return null;
  const metrics = obj(cve.metrics);
  const cvss = METRICS.flatMap((name) => ownFirst(arr(metrics[name])).map(({ cvssData }) => obj(cvssData)));
  const weaknesses = arr(cve.weaknesses).flatMap((weakness) => arr(obj(weakness).description).map((description) => obj(description).value));
  const known = knowledgeOf({ ids: [id], cwes: weaknesses, cvss: cvss.map(({ vectorString, baseScore }) => ({ vector: vectorString, score: baseScore })) });
  const ssvc = ssvcOf(metrics);
  return { ...known, ...(isExploitPublic(cve, ssvc) ? { exploitPublic: true } : {}), ...(ssvc ? { ssvc } : {}) };
}

/** Puts the scores of NVD before those of other sources. */
function ownFirst(metrics: readonly unknown[]): Readonly<Record<string, unknown>>[] {
  const rank = (metric: Readonly<Record<string, unknown>>): number => (metric.type === 'Primary' ? 0 : 1);
  return metrics.map(obj).sort((a, b) => rank(a) - rank(b));
}

/** True if a reference is tagged as an exploit, or if the SSVC decision of CISA reports exploitation. */
function isExploitPublic(cve: Obj, ssvc: Ssvc | null): boolean {
  const isMarked = arr(cve.references).some((reference) => arr(obj(reference).tags).includes('Exploit'));
  return isMarked || ssvc?.exploitation === 'poc' || ssvc?.exploitation === 'active';
}

/** The latest SSVC decision of CISA. Null if there is none. */
function ssvcOf(metrics: Obj): Ssvc | null {
  const decisions = arr(metrics.ssvcV203).flatMap((entry): Ssvc[] => {
    const { timestamp, options } = obj(obj(entry).ssvcData);
    const chosen: Obj = Object.assign({}, ...arr(options).map(obj));
    const word = (name: string) => str(chosen[name])?.toLowerCase() ?? '';
    const exploitation = (['none', 'poc', 'active'] as const).find((one) => one === word('exploitation'));
    if (exploitation === undefined) return [];
    return [
      {
        exploitation,
        automatable: word('automatable') === 'yes' ? true : word('automatable') === 'no' ? false : null,
        technical_impact: (['partial', 'total'] as const).find((one) => one === word('technicalImpact')) ?? null,
        date: date(timestamp)?.toISOString().slice(0, 10) ?? null,
      },
    ];
  });
  return decisions.sort((a, b) => ((a.date ?? '') < (b.date ?? '') ? 1 : -1))[0] ?? null;
}
