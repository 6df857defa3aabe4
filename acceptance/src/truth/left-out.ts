import { checkov, codeql, gitlabSast, gitleaks, semgrep } from './code-tools.ts';
import { nessus, openvas, zap } from './network-tools.ts';
import { cyclonedx, dependencyCheck, grype, npmAudit, osvScanner, snyk, trivyImage, trivyRepository } from './package-tools.ts';
import { records, type Scan, severityOf, type Tool, type Trial, timeOf } from './scan.ts';
import type { TruthCase, Upload } from './trial.ts';

/** Reports of runs that were restricted, and of code that hides weaknesses, as far as the report says so. The second one does not show weakness 0. */

const all: Scan = { found: [0, 1, 2, 3], day: 1 };
const fixed: Scan = { found: [1, 2, 3], day: 8 };
const firstLow = (n: number) => (n === 0 ? ('low' as const) : ('high' as const));

type Json = Record<string, unknown>;
const objects = (value: unknown): Json[] => value as Json[];
const object = (value: unknown): Json => (value ?? {}) as Json;

/** Changes the parsed report. */
const json =
  (change: (report: Json) => unknown) =>
  (text: string): string =>
    JSON.stringify(change(JSON.parse(text)));
/** Adds fields to the object that has this name. */
const within = (name: string, fields: Json) => json((report) => ({ ...report, [name]: { ...object(report[name]), ...fields } }));
const sarifRun = (change: (run: Json) => Json) => json((report) => ({ ...report, runs: objects(report.runs).map(change) }));
const compared = (state: (n: number) => string | undefined, more: Json = {}) =>
  sarifRun((run) => ({ ...run, ...more, results: objects(run.results).map((result, n) => ({ ...result, baselineState: state(n) })) }));

interface Rescanned {
  /** The status of weakness 0. */
  status?: string;
  first?: Partial<Scan>;
  second?: Partial<Scan>;
  firstUpload?: Upload;
}

/** Two scans with one tool. `change` makes the second report what a restricted run would write. */
function rescan(
  name: string,
  tool: Tool,
  change: (text: string, trial: Trial) => string,
  { status = 'open', first, second, firstUpload }: Rescanned = {},
): TruthCase {
  return {
    name,
    tool,
    expected: { 0: status },
    run: async ({ scan, trial }) => {
      await scan(tool, { ...all, ...first }, firstUpload);
      await scan(tool, { ...fixed, ...second }, { edit: (text) => change(text, trial) });
    },
  };
}

const banditFile = (n: number): string => `./src/file${n}.py`;
const bandit: Tool = {
  format: 'bandit',
  kind: 'repository',
  hasTime: true,
  hasAsset: false,
  idOf: ({ n }, k) => `B${n}x${k}`,
  write: (trial, scan) =>
    JSON.stringify({
      errors: [],
      generated_at: timeOf(scan).toISOString(),
      metrics: Object.fromEntries(['_totals', ...[0, 1, 2, 3].map(banditFile)].map((file) => [file, { loc: 10, nosec: 0, skipped_tests: 0 }])),
      results: records(scan, (n) => ({
        test_id: `B${trial.n}x${n}`,
        filename: banditFile(n),
        issue_text: 'Use of exec detected.',
        issue_severity: severityOf(scan, n).toUpperCase(),
        issue_confidence: 'HIGH',
        line_number: 10 + n,
        line_range: [10 + n],
      })),
    }),
};
const metrics = (file: string, counts: Json) => json((report) => ({ ...report, metrics: { ...object(report.metrics), [file]: { loc: 10, ...counts } } }));

const families = (status: string): string =>
  `<Policy><FamilySelection><FamilyItem><FamilyName>Debian Local Security Checks</FamilyName><Status>${status}</Status></FamilyItem></FamilySelection></Policy>`;
const withPolicy = (status: string) => (text: string) => text.replace('<Report name', `${families(status)}<Report name`);
const withFilter = (filter: string) => (text: string) => text.replace('<scan_start>', `${filter}<scan_start>`);

export const leftOut: readonly TruthCase[] = [
  rescan(
    'SARIF with only what is new since a baseline',
    codeql,
    compared(() => 'new'),
  ),
  rescan(
    'SARIF with the difference to a baseline',
    codeql,
    compared((n) => (n === 0 ? 'absent' : 'new')),
  ),
  rescan(
    'SARIF that was compared with a baseline and has all results',
    codeql,
    compared((n) => (n === 0 ? 'new' : 'unchanged')),
    { status: 'verified' },
  ),
  rescan(
    'SARIF without results that was compared with a baseline',
    codeql,
    compared(() => undefined, { baselineGuid: '0b5f8f1a-2f0e-4a4c-9a53-3d5c9f1c2a11' }),
    {
      second: { found: [] },
    },
  ),
  rescan('a comment that hides a weakness from Bandit', bandit, metrics(banditFile(0), { nosec: 1 })),
  rescan('a comment that hides one check of Bandit', bandit, metrics(banditFile(0), { skipped_tests: 1 })),
  rescan('a comment in another file', bandit, metrics(banditFile(1), { nosec: 1 }), { status: 'verified' }),
  rescan('Bandit with high severities only', bandit, metrics('_totals', { 'SEVERITY.LOW': 1, 'SEVERITY.HIGH': 3, 'CONFIDENCE.HIGH': 4 }), {
    first: { severity: firstLow },
  }),
  rescan('Bandit with a baseline', bandit, metrics('_totals', { 'SEVERITY.HIGH': 4, 'CONFIDENCE.HIGH': 4 })),
  rescan('Bandit that found as much as it shows', bandit, metrics('_totals', { 'SEVERITY.HIGH': 3, 'CONFIDENCE.HIGH': 3 }), { status: 'verified' }),
  rescan(
    'Checkov that only counts skipped checks',
    checkov,
    json(({ results, ...report }) => ({ ...report, results: { failed_checks: object(results).failed_checks }, summary: { failed: 3, skipped: 1 } })),
  ),
  rescan('Checkov that shows less than it counts', checkov, within('summary', { failed: 4 })),
  rescan(
    'an audit that leaves out low severities',
    npmAudit,
    within('metadata', { vulnerabilities: { low: 1, high: 3, total: 4 }, dependencies: { total: 20 } }),
    {
      first: { severity: firstLow },
    },
  ),
  rescan('an audit of production dependencies in another lock file', npmAudit, within('metadata', { dependencies: { total: 5 } })),
  rescan('a policy of Snyk that ignores the weakness', snyk, (text, trial) => {
    const ignored = objects(JSON.parse(snyk.write(trial, { ...all, found: [0] })).vulnerabilities);
    return json((report) => ({ ...report, filtered: { ignore: ignored, patch: [] } }))(text);
  }),
  rescan(
    'Snyk that tested another project file',
    snyk,
    json((report) => ({ ...report, displayTargetFile: 'api/package-lock.json' })),
  ),
  rescan('Grype with fixed vulnerabilities only', grype, within('descriptor', { configuration: { 'only-fixed': true } }), {
    first: { unfixed: (n) => n === 0 },
  }),
  rescan('Grype that leaves out a folder', grype, within('descriptor', { configuration: { 'only-fixed': false, exclude: ['/opt/**'] } })),
  rescan('Dependency-Check that suppresses the weakness', dependencyCheck, (text, trial) => {
    const [hidden] = objects(JSON.parse(dependencyCheck.write(trial, { ...all, found: [0] })).dependencies);
    const { vulnerabilities, ...dependency } = hidden ?? {};
    return json((report) => ({ ...report, dependencies: [...objects(report.dependencies), { ...dependency, suppressedVulnerabilities: vulnerabilities }] }))(
      text,
    );
  }),
  rescan(
    'Dependency-Check with an analyzer that failed',
    dependencyCheck,
    within('scanInfo', { analysisExceptions: [{ exception: { message: 'no connection' } }] }),
  ),
  rescan('OSV-Scanner that found nothing to scan', osvScanner, () => ''),
  rescan('OSV-Scanner on another lock file', osvScanner, (text) => text.replace('/src/package-lock.json', '/src/api/package-lock.json')),
  rescan('Trivy on another lock file', trivyRepository, (text) => text.replace('"package-lock.json"', '"api/package-lock.json"')),
  rescan(
    'Trivy on an image whose system it does not recognize',
    trivyImage,
    json(({ Metadata, ...report }) => ({ ...report, Metadata: { ...object(Metadata), DiffIDs: ['sha256:1'] }, Results: [] })),
    { second: { found: [] } },
  ),
  rescan('a family of plugins that is disabled', nessus, withPolicy('disabled'), { firstUpload: { edit: withPolicy('enabled') } }),
  rescan('a family of plugins that is enabled as before', nessus, withPolicy('enabled'), { status: 'verified', firstUpload: { edit: withPolicy('enabled') } }),
  rescan('a filter of OpenVAS', openvas, withFilter('<filters><term>levels=h min_qod=70</term></filters>')),
  rescan('OpenVAS with fewer results than the scan has', openvas, withFilter('<result_count><full>8</full><filtered>6</filtered></result_count>')),
  rescan('ZAP on another site', zap, (text) => text.replaceAll(/https?:\/\/[^/"<]+/g, 'https://elsewhere.example.com')),
  rescan('an analyzer of GitLab that had to stop', gitlabSast, within('scan', { messages: [{ level: 'fatal', value: 'out of memory' }] })),
  rescan('an analyzer of GitLab without the rule', gitlabSast, within('scan', { primary_identifiers: [{ type: 'semgrep_id', name: 'x', value: 'x' }] })),
  rescan(
    'a bill of materials that calls itself incomplete',
    cyclonedx,
    json((report) => ({ ...report, compositions: [{ aggregate: 'incomplete' }] })),
  ),
  rescan('Semgrep that skips the file', semgrep, within('paths', { skipped: [{ path: 'src/file0.py', reason: 'exceeded_size_limit' }] })),
  rescan('Semgrep that skips the rule', semgrep, (text, trial) =>
    json((report) => ({ ...report, skipped_rules: [{ rule_id: semgrep.idOf(trial, 0) }] }))(text),
  ),
  rescan('Gitleaks on files without their history', gitleaks, (text) => text.replaceAll(/"Commit":"[^"]*"/g, '"Commit":""')),
];
