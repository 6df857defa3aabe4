import type { Asset, Cvss, Location, Severity } from '../../contract.ts';
import { cpeComponent, parseUrl, severityOf, urlPlace } from '../../shared/normalize.ts';
import { num } from '../../shared/read.ts';

const SEVERITIES: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

/** 0 to 4, or the word of the risk factor. */
export function severityOfRisk(risk: string | undefined): Severity {
  return /^[0-4]$/.test(risk ?? '') ? (SEVERITIES[Number(risk)] as Severity) : severityOf(risk);
}

/** Tenable writes "CVSS2#" before vectors of version 2, and in some exports nothing before those of version 3. */
export function cvssOf(vector: string | undefined, score: string | undefined, prefix: '' | 'CVSS:3.0/' | 'CVSS:4.0/'): Cvss[] {
  if (vector === undefined || !vector.includes(':')) return [];
  const plain = vector.replace(/^\(|\)$/g, '').replace(/^CVSS2#/i, '');
  const number = num(score);
  return [{ vector: plain.startsWith('CVSS:') ? plain : `${prefix}${plain}`, ...(number === undefined ? {} : { score: number }) }];
}

/** CPE names stand one in a line; the first one is the plugin's subject. */
export function componentOf(cpes: string | undefined): Pick<Location, 'component' | 'version'> {
  return cpeComponent(cpes?.split(/[\s,]+/)[0]);
}

/** The page of a web application that the output of a plugin shows first. */
export function pageIn(output: string | undefined, asset: Asset): string | undefined {
  const pages = output?.match(/https?:\/\/[^\s'"<>`|)\]]+/gi) ?? [];
  return urlPlace(pages.find((page) => parseUrl(page)?.origin === asset.name));
}

/** Plugins that only inform have "n/a" for a solution. */
export function solutionOf(text: string | undefined): string | undefined {
  return /^n\/a$/i.test(text ?? '') ? undefined : text;
}
