import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { aboutPages, startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { runEntry } from '../../shared/run.ts';
import { readCli } from './cli.ts';
import { readIssues } from './issues.ts';

const EXPECTS =
  'JSON of `snyk test`, `snyk container test` or `snyk iac test` (an object or array with vulnerabilities and packageManager), or issues from the Snyk REST API';

export const snyk: ReportFormat = {
  id: 'snyk',
  name: 'Snyk',
  description:
    'Output of `snyk test|container test|iac test --json`, also with --all-projects, or pages of issues from the REST API (for Snyk Code, use sarif)',
  documentation: 'https://docs.snyk.io/developer-tools/snyk-cli/commands/test',
  expects: EXPECTS,
  assetType: 'repository',
  detect: (head) => isCli(head) || (isApi(head) && /"effective_severity_level"\s*:/.test(head.text)),
  about: async (input) => (isApi(await headOf(input)) ? aboutPages(input, PAGES) : startAbout().about()),
  async *read(input) {
    const head = await headOf(input);
    if (isCli(head)) yield* readCli(input, head.jsonShape === 'array');
    else if (isApi(head)) yield* readIssues(input);
    else if (!/^\s*\[\s*\]\s*$/.test(head.text)) throw notThisFormat(EXPECTS);
    // Without a project to test, --all-projects writes an empty list. It has looked at nothing, so nothing is gone.
    else yield* runEntry({ unfinished: true });
  },
};

/** Only a page after the first one names the one before, by a cursor that is not empty. A request for one type or severity of issues leaves out the others. */
const PAGES = {
  next: 'links.next',
  later: {
    'links.prev': /^(?!.*[?&]ending_before=(?:&|$))/,
    'links.self': /[?&](?:starting_after|ending_before|type|effective_severity_level|(?:created|updated)_(?:before|after))=[^&]/,
  },
  items: ['data.*.id'],
};

const PROJECT = ['ok', 'packageManager', 'dependencyCount', 'licensesPolicy', 'projectName', 'displayTargetFile', 'uniqueCount', 'ignoreSettings', 'summary'];

/** The fields of the project come after its vulnerabilities, which may fill the head. */
function isCli(head: ReportHead): boolean {
  if ((head.jsonShape !== 'object' && head.jsonShape !== 'array') || hasKeys(head, 'bomFormat') || hasKeys(head, 'runs')) return false;
  if (hasKeys(head, 'infrastructureAsCodeIssues') || hasKeys(head, 'ok', 'error', 'path')) return true;
  if (!hasKeys(head, 'vulnerabilities')) return hasKeys(head, 'meta', 'ignoreSettings', 'projectName');
  if (PROJECT.filter((key) => head.jsonKeys.includes(key)).length >= 2) return true;
  return (
    head.jsonKeys[0] === 'vulnerabilities' &&
    /"(?:isUpgradable|upgradePath|severityWithCritical|packagePopularityRank|mavenModuleName|publicationTime)"\s*:/.test(head.text)
  );
}

function isApi(head: ReportHead): boolean {
  return head.jsonShape === 'object' && hasKeys(head, 'data') && (hasKeys(head, 'jsonapi') || /"effective_severity_level"\s*:/.test(head.text));
}
