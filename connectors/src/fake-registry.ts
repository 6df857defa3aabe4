import { cisaKevFake } from './enrichment/cisa_kev/fake.ts';
import { epssFake } from './enrichment/epss/fake.ts';
import { githubAdvisoriesFake } from './enrichment/github_advisories/fake.ts';
import { nvdFake } from './enrichment/nvd/fake.ts';
import { osvFake } from './enrichment/osv/fake.ts';
import { awsInspector2Fake } from './scanners/aws_inspector2/fake.ts';
import { defectdojoFake } from './scanners/defectdojo/fake.ts';
import { dependencyTrackFake } from './scanners/dependency_track/fake.ts';
import { githubFake } from './scanners/github/fake.ts';
import { gitlabFake } from './scanners/gitlab/fake.ts';
import { insightvmFake } from './scanners/insightvm/fake.ts';
import { microsoftDefenderFake } from './scanners/microsoft_defender/fake.ts';
import { qualysFake } from './scanners/qualys/fake.ts';
import { reportUrlFake } from './scanners/report_url/fake.ts';
import { snykFake } from './scanners/snyk/fake.ts';
import { sonarqubeFake } from './scanners/sonarqube/fake.ts';
import { tenableFake } from './scanners/tenable/fake.ts';
import { wizFake } from './scanners/wiz/fake.ts';
import type { FakeVendor } from './testing/fake-server.ts';
import { azureDevopsFake } from './ticketing/azure_devops/fake.ts';
import { githubIssuesFake } from './ticketing/github_issues/fake.ts';
import { gitlabIssuesFake } from './ticketing/gitlab_issues/fake.ts';
import { jiraFake } from './ticketing/jira/fake.ts';
import { jiraDataCenterFake } from './ticketing/jira_data_center/fake.ts';
import { linearFake } from './ticketing/linear/fake.ts';
import { servicenowFake } from './ticketing/servicenow/fake.ts';

/** One fake per connector, for the conformance tests. */
export const fakes: readonly FakeVendor[] = [
  awsInspector2Fake,
  azureDevopsFake,
  cisaKevFake,
  defectdojoFake,
  dependencyTrackFake,
  epssFake,
  githubAdvisoriesFake,
  githubFake,
  githubIssuesFake,
  gitlabFake,
  gitlabIssuesFake,
  insightvmFake,
  jiraDataCenterFake,
  jiraFake,
  linearFake,
  microsoftDefenderFake,
  nvdFake,
  osvFake,
  qualysFake,
  reportUrlFake,
  servicenowFake,
  snykFake,
  sonarqubeFake,
  tenableFake,
  wizFake,
];
