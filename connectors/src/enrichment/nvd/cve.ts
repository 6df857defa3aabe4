import { arr, obj, str } from '@rrs/scan-reports/read.ts';
import type { Knowledge } from '../../core/contract.ts';
import { knowledgeOf, requiredCve } from '../../core/knowledge.ts';

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
  return isExploitPublic(cve, metrics) ? { ...known, exploitPublic: true } : known;
}

/** Puts the scores of NVD before those of other sources. */
function ownFirst(metrics: readonly unknown[]): Readonly<Record<string, unknown>>[] {
  const rank = (metric: Readonly<Record<string, unknown>>): number => (metric.type === 'Primary' ? 0 : 1);
  return metrics.map(obj).sort((a, b) => rank(a) - rank(b));
}

/** True if a reference is tagged as an exploit, or if the SSVC decision of CISA reports exploitation. */
function isExploitPublic(cve: Readonly<Record<string, unknown>>, metrics: Readonly<Record<string, unknown>>): boolean {
  const isMarked = arr(cve.references).some((reference) => arr(obj(reference).tags).includes('Exploit'));
  const decisions = arr(metrics.ssvcV203).flatMap((ssvc) => arr(obj(obj(ssvc).ssvcData).options));
  return isMarked || decisions.some((option) => ['poc', 'active'].includes(str(obj(option).exploitation)?.toLowerCase() ?? ''));
}
