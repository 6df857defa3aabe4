import { LOCATION_FIELDS } from '../../shared/exported.ts';
import { arr, type Obj, obj, str, strs } from '../../shared/read.ts';
import { CVSS_VERSIONS } from './vulnerability.ts';

/** A finding that this service exported, in the shape of its NDJSON export. Its properties have what the BOM cannot express. Null for any other vulnerability. */
export function exportedVulnerability(vulnerability: Obj): Obj | null {
  const properties = arr(vulnerability.properties).map(obj);
  const all = (name: string): string[] => properties.filter((property) => property.name === `rrs:${name}`).flatMap(({ value }) => strs(value));
  const first = (name: string): string | undefined => all(name)[0];
  if (first('weakness') === undefined || first('asset_name') === undefined) return null;
  const rating = obj(arr(vulnerability.ratings)[0]);
  const references = arr(vulnerability.references).map(obj);
  return {
    id: vulnerability['bom-ref'],
    title: vulnerability.description,
    description: vulnerability.detail,
    solution: vulnerability.recommendation,
    status: first('status'),
    status_reason: obj(vulnerability.analysis).detail,
    justification: first('justification'),
    suppressed: first('suppressed'),
    severity: rating.severity,
    cvss: { ...rating, version: CVSS_VERSIONS[str(rating.method) ?? ''] },
    cwes: vulnerability.cwes,
    weakness: first('weakness'),
    rule: first('rule'),
    vulnerability_ids: [vulnerability.id, ...references.map(({ id }) => id)].flatMap((id) => str(id) ?? []),
    references: arr(vulnerability.advisories).flatMap((advisory) => strs(obj(advisory).url)),
    asset: { id: obj(arr(vulnerability.affects)[0]).ref, type: first('asset_type'), name: first('asset_name') },
    location: Object.fromEntries(LOCATION_FIELDS.map((name) => [name, first(name)])),
    sources: all('source'),
    occurrences: all('occurrence').map(parsed),
    tags: all('tag'),
    exploit_maturity: first('exploit_maturity'),
    malicious: first('malicious'),
    fix_state: first('fix_state'),
    fix_published_date: first('fix_published_date'),
    first_seen: vulnerability.created,
    last_seen: first('last_seen'),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
