import type { Severity } from '@rrs/scan-reports';
import { idOf, presentPlaces, type VexFinding } from './vex.ts';

export const SARIF_SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
export const SARIF_TOOL = { driver: { name: 'Remediation Risk Service' } };

/** What a SARIF 2.1.0 result needs to know about a finding. Used by exports and evidence packages. */
export interface SarifFinding extends Omit<VexFinding, 'description' | 'solution' | 'updated_at'> {
  severity: Severity;
  location: VexFinding['location'] & { line: number | null; end_line: number | null; url: string | null };
  last_seen: string;
  tags: string[];
}

const levels = { critical: 'error', high: 'error', medium: 'warning', low: 'note', info: 'note', unknown: 'warning' } as const;

export function resultOf(finding: SarifFinding) {
  const { id, title, status, severity, asset, location, vulnerability_ids, first_seen } = finding;
  // SARIF 3.27.10: the level of a result that is not a failure is "none".
  const kind = status === 'verified' ? 'pass' : status === 'withdrawn' ? 'notApplicable' : 'fail';
  return {
    ruleId: idOf(finding),
    kind,
    level: kind === 'fail' ? levels[severity] : 'none',
    message: { text: title },
    locations: placesOf(finding).map((place) => ({
      ...physicalLocation(place),
      logicalLocations: [{ name: asset.name, fullyQualifiedName: [asset.name, location.component].filter(Boolean).join('/') }],
    })),
    fingerprints: { 'rrs/v1': id },
    ...suppressions(finding),
    provenance: { firstDetectionTimeUtc: first_seen, lastDetectionTimeUtc: finding.last_seen },
    properties: {
      id,
      status,
      severity,
      risk_score: finding.risk_score,
      vulnerability_ids,
      cwes: finding.cwes.map((cwe) => `CWE-${cwe}`),
      cvss: finding.cvss,
      asset,
      component: location.component,
      version: location.version,
      fixed_version: location.fixed_version,
      purl: location.purl,
      tags: [...new Set(finding.tags)],
    },
  };
}

interface Place {
  path: string | null;
  url: string | null;
  line: number | null;
  end_line: number | null;
}

/** Where the finding is, and in which other places. */
function placesOf({ location, occurrences }: SarifFinding): Place[] {
  const others = presentPlaces(occurrences).map(
    ({ location: { path, url, line, end_line } }): Place => ({
      path: path === undefined ? null : String(path),
      url: url === undefined ? null : String(url),
      line: line === undefined ? null : Number(line),
      end_line: end_line === undefined ? null : Number(end_line),
    }),
  );
  return others.length < 2 ? [location] : others;
}

function physicalLocation({ path, url, line, end_line }: Place) {
  const uri = path !== null ? uriOf(path) : url !== null && URL.canParse(url) ? new URL(url).href : null;
  if (uri === null || uri === '') return {};
  const endLine = end_line !== null && line !== null && end_line >= line ? { endLine: end_line } : {};
  return { physicalLocation: { artifactLocation: { uri }, ...(line !== null && line > 0 ? { region: { startLine: line, ...endLine } } : {}) } };
}

function uriOf(path: string): string {
  return path.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
}

function suppressions({ status, status_reason, justification }: SarifFinding) {
  if (status !== 'risk_accepted' && status !== 'false_positive') return {};
  return { suppressions: [{ kind: 'external', status: 'accepted', justification: [status, justification, status_reason].filter(Boolean).join(': ') }] };
}
