/** A small report of Trivy: `count` vulnerabilities of one image, each severity in turn. */
export function trivyReport(count: number, image = 'registry.example.com/shop/web:1.4', from = 1): string {
  const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'];
  const Vulnerabilities = Array.from({ length: count }, (_, index) => {
    const number = from + index;
    return {
      VulnerabilityID: `CVE-2026-${10_000 + number}`,
      PkgName: `library-${number}`,
      InstalledVersion: '1.0.0',
      FixedVersion: '1.0.1',
      Severity: severities[index % severities.length],
      Title: `Weakness ${number} of library-${number}`,
      Description: `A crafted request lets an attacker do thing ${number}.`,
      References: ['https://example.com/advisory', 'javascript:alert(1)'],
    };
  });
  return JSON.stringify({
    SchemaVersion: 2,
    CreatedAt: new Date().toISOString(),
    ArtifactName: image,
    ArtifactType: 'container_image',
    Results: [{ Target: image, Class: 'lang-pkgs', Type: 'npm', Vulnerabilities }],
  });
}
