import type { ReportFormat } from './contract.ts';
import { awsInspector2 } from './formats/aws_inspector2/index.ts';
import { awsSecurityHub } from './formats/aws_security_hub/index.ts';
import { bandit } from './formats/bandit/index.ts';
import { burp } from './formats/burp/index.ts';
import { checkov } from './formats/checkov/index.ts';
import { clair } from './formats/clair/index.ts';
import { cyclonedx } from './formats/cyclonedx/index.ts';
import { defectdojoGeneric } from './formats/defectdojo_generic/index.ts';
import { dependencyCheck } from './formats/dependency_check/index.ts';
import { generic } from './formats/generic/index.ts';
import { github } from './formats/github/index.ts';
import { gitlab } from './formats/gitlab/index.ts';
import { gitleaks } from './formats/gitleaks/index.ts';
import { grype } from './formats/grype/index.ts';
import { hadolint } from './formats/hadolint/index.ts';
import { kubeBench } from './formats/kube_bench/index.ts';
import { nessus } from './formats/nessus/index.ts';
import { nexpose } from './formats/nexpose/index.ts';
import { nmap } from './formats/nmap/index.ts';
import { npmAudit } from './formats/npm_audit/index.ts';
import { nuclei } from './formats/nuclei/index.ts';
import { openvas } from './formats/openvas/index.ts';
import { openvex } from './formats/openvex/index.ts';
import { osvScanner } from './formats/osv_scanner/index.ts';
import { prowler } from './formats/prowler/index.ts';
import { qualys } from './formats/qualys/index.ts';
import { retireJs } from './formats/retire_js/index.ts';
import { rrsCsv } from './formats/rrs_csv/index.ts';
import { rrsNdjson } from './formats/rrs_ndjson/index.ts';
import { sarif } from './formats/sarif/index.ts';
import { semgrep } from './formats/semgrep/index.ts';
import { snyk } from './formats/snyk/index.ts';
import { sonarqube } from './formats/sonarqube/index.ts';
import { tfsec } from './formats/tfsec/index.ts';
import { trivy } from './formats/trivy/index.ts';
import { trivyOperator } from './formats/trivy_operator/index.ts';
import { zap } from './formats/zap/index.ts';

/** Detection takes the first match, so the generic format must stay last. */
export const formats: readonly ReportFormat[] = [
  awsInspector2,
  awsSecurityHub,
  bandit,
  burp,
  checkov,
  clair,
  cyclonedx,
  defectdojoGeneric,
  dependencyCheck,
  github,
  gitlab,
  gitleaks,
  grype,
  hadolint,
  kubeBench,
  nessus,
  nexpose,
  nmap,
  npmAudit,
  nuclei,
  openvas,
  openvex,
  osvScanner,
  prowler,
  qualys,
  retireJs,
  rrsCsv,
  rrsNdjson,
  sarif,
  semgrep,
  snyk,
  sonarqube,
  tfsec,
  trivy,
  trivyOperator,
  zap,
  generic,
];
