import { branchOf, damage, hex, records, type Scan, severityOf, type Tool, type Trial, timeOf } from './scan.ts';

/** Tools that look for weaknesses in code. Their rules are not vulnerabilities with a public id. */

const fileOf = ({ path = (n) => `src/file${n}.py` }: Scan, n: number): string => path(n);
const rule = ({ n }: Trial, k: number): string => `rule-${n}-${k}`;
const repositoryOf = ({ asset }: Trial, { asset: other }: Scan): string => `https://git.example.com/${other ?? asset}`;

export const semgrep: Tool = {
  format: 'semgrep',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: rule,
  write: (trial, scan) =>
    JSON.stringify({
      version: '1.90.0',
      results: [
        ...records(scan, (n) => ({
          check_id: rule(trial, n),
          path: fileOf(scan, n),
          start: { line: 10 + n, col: 1 },
          end: { line: 10 + n, col: 20 },
          extra: {
            message: 'User input reaches a statement.',
            metadata: {},
            severity: severityOf(scan, n) === 'low' ? 'INFO' : 'ERROR',
            lines: `run(value${n})`,
            is_ignored: scan.suppressed?.includes(n) ?? false,
          },
        })),
        ...damage(scan),
      ],
      errors: scan.failed ? [{ code: 2, level: 'error', type: 'Timeout', message: 'Timeout', path: fileOf(scan, 0) }] : [],
      paths: { scanned: (scan.files ?? Array.from({ length: 10 }, (_, n) => n)).map((n) => fileOf(scan, n)) },
    }),
};

export const codeql: Tool = {
  format: 'sarif',
  kind: 'repository',
  hasTime: true,
  hasAsset: true,
  idOf: rule,
  write: (trial, scan) =>
    JSON.stringify({
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'CodeQL',
              semanticVersion: '2.20.0',
              rules: (scan.enabled ?? Array.from({ length: 30 }, (_, n) => n)).map((n) => ({ id: rule(trial, n), shortDescription: { text: `Rule ${n}` } })),
            },
          },
          invocations: [{ executionSuccessful: !scan.failed, startTimeUtc: timeOf(scan).toISOString(), endTimeUtc: timeOf(scan).toISOString() }],
          versionControlProvenance: [
            {
              repositoryUri: repositoryOf(trial, scan),
              revisionId: scan.commit ?? hex(scan.day, 40),
              ...(branchOf(scan) === null ? {} : { branch: branchOf(scan) }),
            },
          ],
          results: [
            ...records(scan, (n) => ({
              ruleId: rule(trial, n),
              level: severityOf(scan, n) === 'low' ? 'note' : 'error',
              message: { text: 'User input reaches a statement.' },
              locations: [{ physicalLocation: { artifactLocation: { uri: fileOf(scan, n) }, region: { startLine: 10 + n } } }],
              ...(scan.suppressed?.includes(n) ? { suppressions: [{ kind: 'external', status: 'accepted' }] } : {}),
            })),
            ...damage(scan),
          ],
        },
      ],
    }),
};

export const gitleaks: Tool = {
  format: 'gitleaks',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: rule,
  write: (trial, scan) =>
    JSON.stringify([
      ...records(scan, (n) => ({
        Description: 'A key',
        RuleID: rule(trial, n),
        StartLine: 10 + n,
        EndLine: 10 + n,
        StartColumn: 1,
        EndColumn: 20,
        Match: 'key=REDACTED',
        Secret: 'REDACTED',
        File: fileOf(scan, n),
        Commit: hex(n, 40),
        Author: 'a',
        Email: 'a@example.com',
        Date: '2025-01-01T00:00:00Z',
        Message: 'add',
        Tags: [],
        Fingerprint: `${hex(n, 40)}:${fileOf(scan, n)}:${rule(trial, n)}:${10 + n}`,
      })),
      ...damage(scan),
    ]),
};

export const checkov: Tool = {
  format: 'checkov',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: (trial, k) => `CKV_${trial.n}_${k}`,
  write: (trial, scan) => {
    const check = (n: number, result: string) => ({
      check_id: `CKV_${trial.n}_${n}`,
      check_name: `Check ${n}`,
      check_result: { result },
      file_path: `/${fileOf(scan, n)}`,
      file_line_range: [1, 4],
      resource: `aws_s3_bucket.bucket${n}`,
      severity: severityOf(scan, n).toUpperCase(),
    });
    const passed = (scan.files ?? Array.from({ length: 10 }, (_, n) => n)).filter((n) => !scan.found.includes(n)).map((n) => check(n, 'PASSED'));
    return JSON.stringify({
      check_type: 'terraform',
      results: {
        passed_checks: passed,
        failed_checks: [...records(scan, (n) => check(n, 'FAILED')), ...damage(scan)],
        skipped_checks: (scan.suppressed ?? []).map((n) => check(n, 'SKIPPED')),
        parsing_errors: scan.failed ? [`/${fileOf(scan, 0)}`] : [],
      },
      summary: { checkov_version: '3.2.1' },
    });
  },
};

export const gitlabSast: Tool = {
  format: 'gitlab',
  kind: 'repository',
  hasTime: true,
  hasAsset: false,
  idOf: rule,
  write: (trial, scan) =>
    JSON.stringify({
      version: '15.0.7',
      scan: {
        analyzer: { id: 'a', name: 'A', version: '1.0', vendor: { name: 'GitLab' } },
        scanner: { id: 'semgrep-sast', name: 'Semgrep', version: '1.0', vendor: { name: 'GitLab' } },
        type: 'sast',
        start_time: timeOf(scan).toISOString().slice(0, 19),
        end_time: timeOf(scan).toISOString().slice(0, 19),
        status: scan.failed ? 'failure' : 'success',
      },
      vulnerabilities: [
        ...records(scan, (n) => ({
          id: `${trial.n}-${n}`,
          category: 'sast',
          name: 'Injection',
          severity: 'High',
          location: { file: fileOf(scan, n), start_line: 10 + n },
          identifiers: [{ type: 'semgrep_id', name: rule(trial, n), value: rule(trial, n) }],
        })),
        ...damage(scan),
      ],
    }),
};
