import type { Asset, Cvss, Observation } from '../../contract.ts';
import { ecosystemOf, ecosystemOfFile } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, observation, required, severityOf } from '../../shared/normalize.ts';
import { epssOf, ratingOf, uniqueRatings } from '../../shared/ratings.ts';
import { arr, type Obj, obj, str, strs } from '../../shared/read.ts';

/** A Dependabot alert. The REST and GraphQL APIs have the same data under different names. */
interface AdvisoryAlert {
  place: string;
  external_id: string | undefined;
  asset: Asset | null;
  summary: string | undefined;
  description: string | undefined;
  severity: string | undefined;
  identifiers: string[];
  cwes: unknown[];
  cvss: Cvss[];
  references: string[];
  component: string | undefined;
  ecosystem: string | undefined;
  /** `percentage` and `percentile` from 0 to 1. */
  epss: Obj;
  malicious: boolean;
  version: string | undefined;
  fixed: string | undefined;
  path: string | undefined;
  state: string | undefined;
  created: Date | null;
  tags: string[];
}

export function advisoryObservation(alert: AdvisoryAlert): Observation {
  const component = required(alert.component, 'the package name');
  const title = required(alert.summary ?? alert.identifiers[0], 'the advisory');
  const rule = alert.identifiers.find((id) => /^GHSA-/i.test(id)) ?? alert.identifiers[0] ?? title;
  const state = alert.state?.toLowerCase();
  return observation({
    place: alert.place,
    tool: 'dependabot',
    rule,
    external_id: alert.external_id,
    title,
    description: alert.description,
    severity: severityOf(alert.severity),
    tool_severity: alert.severity,
    vulnerability_ids: alert.identifiers,
    cwes: cwesOf(alert.cwes),
    cvss: uniqueRatings(alert.cvss),
    references: alert.references,
    asset: alert.asset,
    location: {
      component,
      version: alert.version,
      fixed_version: alert.fixed,
      ecosystem: ecosystemOf(alert.ecosystem) ?? ecosystemOfFile(alert.path),
      path: filePath(alert.path),
    },
    present: state !== 'fixed',
    suppressed: state === 'dismissed' || state === 'auto_dismissed',
    first_seen: alert.created,
    tags: alert.tags,
    epss: epssOf(alert.epss.percentage, alert.epss.percentile),
    malicious: alert.malicious,
    fix_state: alert.fixed === undefined ? undefined : 'available',
  });
}

export function identifiersOf(identifiers: unknown, ...more: unknown[]): string[] {
  const values = arr(identifiers).flatMap((identifier) => strs(obj(identifier).value));
  return [...new Set([...more.flatMap(strs), ...values])];
}

export function urlsOf(references: unknown): string[] {
  return arr(references).flatMap((reference) => str(obj(reference).url) ?? str(reference) ?? []);
}

export function cvssOf(...entries: Obj[]): Cvss[] {
  return entries.flatMap((entry) => ratingOf(entry.vector_string ?? entry.vectorString, entry.score));
}
