/** Reports as Grype and Trivy write them. They name the tool, the image and the time. */
export interface ReportFacts {
  /** Numbers of weaknesses. Their severity follows from the number: 1 to 9 critical, 10 to 19 high, 20 and above low. */
  weaknesses: readonly number[];
  image?: string;
  at?: Date;
  /** Digit that makes one build of the image differ from another. */
  build?: number;
  knowledgeAt?: Date;
  /** Files that contain a secret. */
  secrets?: readonly string[];
}

const DAY = 86_400_000;
export const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY);
export const cve = (n: number): string => `CVE-2025-${10_000 + n}`;
export const IMAGE = 'registry.example/shop:prod';
const severityOf = (n: number): string => (n < 10 ? 'Critical' : n < 20 ? 'High' : 'Low');
/** A weakness that remains in every report, as in real ones. */
const OTHER = 90;

export function grype({ weaknesses, image = IMAGE, at = new Date(), build = 1, knowledgeAt = at }: ReportFacts): string {
  return JSON.stringify({
    matches: [...weaknesses, OTHER].map((n) => ({
      vulnerability: { id: cve(n), severity: severityOf(n), fix: { versions: ['9'], state: 'fixed' } },
      artifact: { name: `lib${n}`, version: `1.${n}`, type: 'deb', purl: `pkg:deb/debian/lib${n}@1.${n}` },
    })),
    source: { type: 'image', target: { userInput: image, manifestDigest: `sha256:${String(build % 10).repeat(64)}` } },
    descriptor: { name: 'grype', version: '0.90.0', timestamp: at.toISOString(), db: { built: knowledgeAt.toISOString() } },
  });
}

export function trivy({ weaknesses, image = IMAGE, at = new Date(), build = 1, secrets = [] }: ReportFacts): string {
  const Vulnerabilities = [...weaknesses, OTHER].map((n) => ({
    VulnerabilityID: cve(n),
    PkgName: `lib${n}`,
    InstalledVersion: `1.${n}`,
    FixedVersion: '9',
    Severity: severityOf(n).toUpperCase(),
  }));
  return JSON.stringify({
    SchemaVersion: 2,
    CreatedAt: at.toISOString(),
    ArtifactName: image,
    ArtifactType: 'container_image',
    Metadata: { RepoDigests: [`${image.split(':')[0]}@sha256:${String(build % 10).repeat(64)}`] },
    Results: [
      { Target: image, Class: 'os-pkgs', Type: 'debian', Vulnerabilities },
      ...secrets.map((Target) => ({ Target, Class: 'secret', Secrets: [{ RuleID: 'private-key', Title: 'Private key', Severity: 'HIGH', StartLine: 1 }] })),
    ],
  });
}
