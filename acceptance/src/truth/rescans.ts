import { checkov, codeql, gitlabSast, gitleaks, semgrep } from './code-tools.ts';
import { honestRescans } from './honest-rescans.ts';
import { nessus, openvas, zap } from './network-tools.ts';
import { cyclonedx, dependencyCheck, grype, npmAudit, osvScanner, snyk, trivyImage, trivyRepository } from './package-tools.ts';
import { type Scan, timeOf } from './scan.ts';
import { allTools, code, images, packages, withBranches, withDamage, withOwnTime, withRepository } from './tools.ts';
import type { Rescan, TruthCase } from './trial.ts';

const several = Array.from({ length: 24 }, (_, n) => n);
/** Weaknesses 0, 2, 4 … are medium or low, the others high. */
const mixed = (n: number) => (n % 2 === 0 ? (n % 4 === 0 ? 'medium' : 'low') : 'high') as 'medium' | 'low' | 'high';
const odd = several.filter((n) => n % 2 === 1);

const rescans: readonly Rescan[] = [
  // Scans that prove nothing.
  { name: 'a partial rescan', tools: allTools, upload: { scope: { coverage: 'partial' } }, expected: 'open' },
  { name: 'a dry run', tools: [trivyImage, semgrep, nessus], upload: { dryRun: true }, expected: 'open', shown: null },
  { name: 'a file that is cut in the middle', tools: allTools, upload: { cut: 0.6 }, expected: 'open', shown: null },
  { name: 'a file that is cut before its end', tools: allTools, upload: { cut: 0.995 }, expected: 'open', shown: null },
  { name: 'a scan from before', tools: withOwnTime, second: { day: 0, knowledge: -1 }, expected: 'open', shown: 'verified' },
  { name: 'a scan from before, by the scope', tools: withOwnTime, upload: { scope: { started_at: timeOf({ day: 0 }).toISOString() } }, expected: 'open' },
  {
    name: 'a scan from before, by the scope only',
    tools: [snyk, npmAudit, osvScanner, semgrep, gitleaks],
    upload: { scope: { started_at: timeOf({ day: 0 }).toISOString() } },
    expected: 'open',
    shown: 'verified',
  },
  { name: 'a scan of the same moment', tools: withOwnTime, second: { day: 1 }, expected: 'open' },
  { name: 'a scan in the future', tools: withOwnTime, second: { day: 80 }, expected: 'open' },
  {
    name: 'a scan of another time zone that was earlier',
    tools: [trivyImage, grype],
    first: { hour: 0 },
    second: { day: 1, hour: 1 },
    upload: { edit: (text) => text.replace(timeOf({ day: 1, hour: 1 }).toISOString(), timeOf({ day: 1, hour: 1 }).toISOString().replace('Z', '+02:00')) },
    expected: 'open',
    shown: 'withdrawn',
  },
  {
    name: 'a later start that only the scope claims',
    tools: withOwnTime,
    second: { day: 0, knowledge: -1 },
    upload: { scope: { started_at: timeOf({ day: 8 }).toISOString() } },
    expected: 'open',
    shown: 'verified',
  },
  { name: 'a scan of another platform', tools: [trivyImage, grype], first: { platform: 'amd64' }, second: { platform: 'arm64' }, expected: 'open' },
  { name: 'a scan of another tag', tools: images, second: { tag: 'staging' }, expected: 'open' },
  { name: 'a scan of a pull request by its tag', tools: images, second: { tag: 'pr-17' }, expected: 'open', shown: null },
  {
    name: 'a scan of a pull request by its branch',
    tools: withBranches,
    first: { branch: 'main' },
    second: { branch: 'refs/pull/17/merge' },
    expected: 'open',
    shown: null,
  },
  { name: 'a scan of a branch that only the report names', tools: withBranches, second: { branch: 'feature/checkout' }, expected: 'open', shown: null },
  {
    name: 'a scan of a pull request by the scope',
    tools: allTools.filter(({ kind }) => kind !== 'host' && kind !== 'web'),
    second: { branch: null },
    upload: { scope: { track: 'pr-17' } },
    expected: 'open',
    shown: null,
  },
  {
    name: 'a scan of a feature branch by the scope',
    tools: withRepository,
    second: { branch: null },
    upload: { scope: { track: 'feature/checkout' } },
    expected: 'open',
    shown: null,
  },
  { name: 'a scan of a build without a branch', tools: images, second: { tag: 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0' }, expected: 'open' },
  {
    name: 'a scan of the next of several builds without a branch',
    tools: images,
    first: { tag: 'b1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0' },
    second: { tag: 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0' },
    expected: 'open',
  },
  { name: 'a scan of a lower version', tools: images, first: { tag: '1.10.0', day: 7 }, second: { tag: '1.9.0' }, expected: 'open' },
  {
    name: 'a scan of a lower version whose report arrives first',
    tools: images,
    first: { tag: '1.10.0', day: 7 },
    second: { tag: '1.9.0' },
    reversed: true,
    expected: 'open',
  },
  { name: 'a scan of a lower version days later', tools: images, first: { tag: '1.10.0' }, second: { tag: '1.9.0' }, expected: 'open' },
  {
    name: 'a scan of a lower version days later whose report arrives first',
    tools: images,
    first: { tag: '1.10.0' },
    second: { tag: '1.9.0' },
    reversed: true,
    expected: 'open',
  },
  { name: 'a scan of another major version', tools: images, first: { tag: '1.4.2' }, second: { tag: '2.0.0' }, expected: 'open' },
  { name: 'a scan of another asset', tools: [...images, ...packages, ...code, zap, nessus], second: { asset: 'other-asset' }, expected: 'open', shown: null },
  {
    name: 'a scan of an unspecified asset',
    tools: [snyk, npmAudit, osvScanner, semgrep, gitleaks, checkov],
    upload: { scope: { asset: 'unspecified' } },
    expected: 'open',
  },
  {
    name: 'another scan of an unspecified asset',
    tools: [snyk, npmAudit, osvScanner, semgrep, gitleaks, checkov],
    firstUpload: { scope: { asset: 'unspecified' } },
    upload: { scope: { asset: 'unspecified' } },
    expected: 'open',
  },
  {
    name: 'a scan of another part',
    tools: [snyk, npmAudit, osvScanner, semgrep],
    firstUpload: { scope: { path: 'web' } },
    upload: { scope: { path: 'api' } },
    expected: 'open',
  },
  { name: 'a scan by another pipeline', tools: allTools, upload: { scope: { name: 'another pipeline' } }, expected: 'open' },
  { name: 'a report with a record that cannot be read', tools: withDamage, second: { damaged: true }, expected: 'open' },
  {
    name: 'a scan that says that it failed',
    tools: [codeql, openvas, nessus, semgrep, checkov],
    second: { failed: true },
    upload: { mayFail: true },
    expected: 'open',
  },
  {
    name: 'a scan whose report cannot be used because it failed',
    tools: [gitlabSast, snyk],
    second: { failed: true },
    upload: { mayFail: true },
    expected: 'open',
    shown: null,
  },
  { name: 'a scan that suppresses the weakness', tools: [trivyImage, grype, checkov], second: { suppressed: [0] }, expected: 'open' },
  { name: 'a scan that suppresses the weakness where it is', tools: [semgrep, codeql], second: { found: [0, 1, 2, 3], suppressed: [0] }, expected: 'open' },
  { name: 'a scan without credentials', tools: [nessus], second: { credentialed: false }, expected: 'open' },
  { name: 'a scan whose login failed', tools: [openvas], first: { credentialed: true }, second: { credentialed: false }, expected: 'open' },
  { name: 'a scan with a check switched off', tools: [nessus, codeql], first: { enabled: [0, 1, 2, 3] }, second: { enabled: [1, 2, 3, 9] }, expected: 'open' },
  {
    name: 'a scan of another machine with the same name',
    tools: [nessus, openvas],
    first: { address: '192.0.2.10' },
    second: { address: '192.0.2.11' },
    expected: 'open',
  },
  { name: 'a scan of the other host', tools: [nessus, openvas], second: { hosts: ['web3'] }, expected: 'open' },
  { name: 'a scan with an older database', tools: [grype, dependencyCheck], first: { knowledge: 1 }, second: { knowledge: -5 }, expected: 'open' },
  { name: 'a scan of fewer files', tools: [semgrep, checkov], second: { files: [1, 2, 3, 4, 5] }, expected: 'open' },
  { name: 'a scan of files in another folder', tools: [semgrep], second: { path: (n) => `app/src/file${n}.py` }, expected: 'open' },
  {
    name: 'a scan of high severities only',
    tools: [trivyImage, grype, trivyRepository, snyk, npmAudit, osvScanner],
    first: { found: several, severity: mixed },
    second: { found: odd, severity: mixed },
    expected: 'open',
  },
  {
    name: 'a scan of what has a fix only',
    tools: [trivyImage, grype, trivyRepository, snyk],
    first: { found: several, unfixed: (n) => n % 2 === 0 },
    second: { found: odd },
    expected: 'open',
  },
  {
    name: 'an empty report after many findings',
    tools: [trivyImage, grype, snyk, osvScanner, semgrep],
    first: { found: several },
    second: { found: [] },
    expected: 'open',
  },

  // Scans after which the weakness is not known any more, although nothing was fixed.
  { name: 'a scan of the same build', tools: [trivyImage, grype], first: { build: 3 }, second: { build: 3 }, expected: 'withdrawn' },
  {
    name: 'a scan of the same build whose report arrives first',
    tools: [trivyImage, grype],
    first: { build: 3 },
    second: { build: 3 },
    reversed: true,
    expected: 'withdrawn',
  },
  {
    name: 'a scan of the same build after a partial one',
    tools: [trivyImage, grype],
    first: { build: 3 },
    second: { build: 3 },
    firstUpload: { scope: { coverage: 'partial' } },
    expected: 'withdrawn',
  },
  { name: 'a scan of the same commit', tools: withBranches, first: { commit: 'a'.repeat(40) }, second: { commit: 'a'.repeat(40) }, expected: 'withdrawn' },
  {
    name: 'a scan that still has the component',
    tools: [trivyImage, grype, snyk, osvScanner, trivyRepository, dependencyCheck, cyclonedx],
    first: sharedLibrary(),
    second: sharedLibrary(),
    expected: 'withdrawn',
  },

  // Scans that still show it.
  {
    name: 'a component in another folder',
    tools: [trivyImage, grype, dependencyCheck],
    first: { path: (n) => `/opt/a/lib${n}.jar` },
    second: { found: [0, 1, 2, 3], path: (n) => `/srv/b/lib${n}.jar` },
    expected: 'open',
  },
  {
    name: 'code that moved to other lines',
    tools: [semgrep, codeql, gitlabSast],
    second: { found: [0, 1, 2, 3] },
    upload: { edit: (text) => text.replace(/"(line|startLine|start_line)":(\d+)/g, (_, name, line) => `"${name}":${Number(line) + 30}`) },
    expected: 'open',
  },
];

/** Weaknesses 0 and 1 are of one component. */
function sharedLibrary(): Partial<Scan> {
  return { component: (n) => (n < 2 ? 'shared' : `lib${n}`), version: () => '1.0.0' };
}

/** Every rescan with every tool that it is about. */
export const rescanCases: readonly TruthCase[] = [...honestRescans, ...rescans].flatMap(
  ({ name, tools, first, second, firstUpload, upload, expected, shown = 'open', reversed }) =>
    tools.map((tool): TruthCase => {
      const scans = [
        [{ found: [0, 1, 2, 3], day: 1, ...first }, firstUpload],
        [{ found: [1, 2, 3, 9], day: 8, ...second }, upload],
      ] as const;
      const still = scans[1][0].found.filter((n) => scans[0][0].found.includes(n)).map((n) => [n, 'open'] as const);
      return {
        name: `${name} (${tool.format}, ${tool.kind})`,
        tool,
        expected: { ...Object.fromEntries(still), 0: expected, ...(second?.found ? {} : { 9: shown }) },
        run: async ({ scan }) => {
          for (const [one, sent] of reversed ? scans.toReversed() : scans) await scan(tool, one, sent);
        },
      };
    }),
);
