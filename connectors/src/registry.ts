import type { Connector } from './core/contract.ts';
import { cisaKev } from './enrichment/cisa_kev/index.ts';
import { epss } from './enrichment/epss/index.ts';
import { githubAdvisories } from './enrichment/github_advisories/index.ts';
import { nvd } from './enrichment/nvd/index.ts';
import { osv } from './enrichment/osv/index.ts';
import { awsInspector2 } from './scanners/aws_inspector2/index.ts';
import { defectdojo } from './scanners/defectdojo/index.ts';
import { dependencyTrack } from './scanners/dependency_track/index.ts';
import { github } from './scanners/github/index.ts';
import { gitlab } from './scanners/gitlab/index.ts';
import { insightvm } from './scanners/insightvm/index.ts';
import { microsoftDefender } from './scanners/microsoft_defender/index.ts';
import { qualys } from './scanners/qualys/index.ts';
import { reportUrl } from './scanners/report_url/index.ts';
import { snyk } from './scanners/snyk/index.ts';
import { sonarqube } from './scanners/sonarqube/index.ts';
import { tenable } from './scanners/tenable/index.ts';
import { wiz } from './scanners/wiz/index.ts';
import { azureDevops } from './ticketing/azure_devops/index.ts';
import { githubIssues } from './ticketing/github_issues/index.ts';
import { gitlabIssues } from './ticketing/gitlab_issues/index.ts';
import { jira } from './ticketing/jira/index.ts';
import { jiraDataCenter } from './ticketing/jira_data_center/index.ts';
import { linear } from './ticketing/linear/index.ts';
import { servicenow } from './ticketing/servicenow/index.ts';

/** All connectors. The catalog, the validation of settings and the conformance tests are derived from this list. */
export const connectors: readonly Connector[] = [
  awsInspector2,
  azureDevops,
  cisaKev,
  defectdojo,
  dependencyTrack,
  epss,
  github,
  githubAdvisories,
  githubIssues,
  gitlab,
  gitlabIssues,
  insightvm,
  jira,
  jiraDataCenter,
  linear,
  microsoftDefender,
  nvd,
  osv,
  qualys,
  reportUrl,
  servicenow,
  snyk,
  sonarqube,
  tenable,
  wiz,
];
