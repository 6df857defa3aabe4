import type { Observation } from '../../contract.ts';
import { arr, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { advisoryObservation, cvssOf, identifiersOf, urlsOf } from './advisory.ts';
import { alertId, reasonTag, repositoryAsset } from './repository.ts';

/** REST: https://docs.github.com/en/rest/dependabot/alerts */
export function dependabotAlert(alert: Obj, place: string): Observation {
  const advisory = obj(alert.security_advisory);
  const vulnerability = obj(alert.security_vulnerability);
  const dependency = obj(alert.dependency);
  const named = { ...obj(vulnerability.package), ...obj(dependency.package) };
  const severities = obj(advisory.cvss_severities);
  const patched = vulnerability.first_patched_version;
  return advisoryObservation({
    place,
    external_id: alertId(alert),
    asset: repositoryAsset(alert),
    summary: str(advisory.summary),
    description: str(advisory.description),
    severity: str(vulnerability.severity) ?? str(advisory.severity),
    identifiers: identifiersOf(advisory.identifiers, advisory.ghsa_id, advisory.cve_id),
    cwes: [advisory.cwes].flat().map((cwe) => str(obj(cwe).cwe_id)),
    cvss: cvssOf(obj(severities.cvss_v4), obj(severities.cvss_v3), obj(advisory.cvss)),
    references: urlsOf(advisory.references),
    component: str(named.name),
    ecosystem: str(named.ecosystem),
    epss: obj(arr(advisory.epss)[0]),
    malicious: str(advisory.classification) === 'malware',
    version: undefined,
    fixed: str(obj(patched).identifier) ?? str(patched),
    path: str(dependency.manifest_path),
    state: str(alert.state),
    created: date(alert.created_at),
    tags: [...strs(named.ecosystem), ...strs(dependency.scope), ...reasonTag(alert.dismissed_reason)],
  });
}
