import type { Asset, Cvss, ExploitMaturity, Location, Severity } from '../../contract.ts';
import { cpeComponent } from '../../shared/cpe.ts';
import { parseUrl, severityOf, urlPlace } from '../../shared/normalize.ts';
import { maturityOf, ratingOf } from '../../shared/ratings.ts';
import { num } from '../../shared/read.ts';

const SEVERITIES: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

/** Maps 0 to 4, or the word of the risk factor. */
export function severityOfRisk(risk: string | undefined): Severity {
  return /^[0-4]$/.test(risk ?? '') ? (SEVERITIES[Number(risk)] as Severity) : severityOf(risk);
}

/** Tenable prefixes version 2 vectors with "CVSS2#". In some exports, version 3 vectors have no prefix. */
export function cvssOf(vector: string | undefined, score: string | undefined, prefix: '' | 'CVSS:3.0/' | 'CVSS:4.0/'): Cvss[] {
  if (vector === undefined || !vector.includes(':')) return ratingOf(undefined, score, prefix.slice(5, 8) || '2.0');
  const plain = vector.replace(/^\(|\)$/g, '').replace(/^CVSS2#/i, '');
  const number = num(score);
  return [{ vector: plain.startsWith('CVSS:') ? plain : `${prefix}${plain}`, ...(number === undefined ? {} : { score: number }) }];
}

interface Exploits {
  /** The word of CVSS for the maturity of exploits. */
  maturity: string | undefined;
  available: boolean;
  /** True if a framework such as Metasploit has a working exploit. */
  framework: boolean;
  malware: boolean;
}

export function exploitOf({ maturity, available, framework, malware }: Exploits): ExploitMaturity | undefined {
  if (malware) return 'attacked';
  if (framework) return 'functional';
  const known = maturityOf(maturity);
  return available && (known === undefined || known === 'unreported') ? 'proof_of_concept' : known;
}

/** There is one CPE name per line. The first one is the subject of the plugin. */
export function componentOf(cpes: string | undefined): Pick<Location, 'component' | 'version'> {
  return cpeComponent(cpes?.split(/[\s,]+/)[0]);
}

/** Returns the first page of the web application that the plugin output mentions. */
export function pageIn(output: string | undefined, asset: Asset): string | undefined {
  const pages = output?.match(/https?:\/\/[^\s'"<>`|)\]]+/gi) ?? [];
  return urlPlace(pages.find((page) => parseUrl(page)?.origin === asset.name));
}

/** Informational plugins have the solution "n/a". */
export function solutionOf(text: string | undefined): string | undefined {
  return /^n\/a$/i.test(text ?? '') ? undefined : text;
}
