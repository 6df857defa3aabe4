import { isPresent, type Repository } from '../company/world.ts';

export interface CodeScan {
  repository: Repository;
  week: number;
}

/** The output of `semgrep scan --json`. Without rules, it reads the files and finds nothing. */
export function semgrepReport({ repository: { weaknesses }, week }: CodeScan, { hasRules = true } = {}): string {
  return JSON.stringify({
    version: '1.140.0',
    results: weaknesses
      .filter((weakness) => hasRules && isPresent(weakness, week))
      .map(({ rule, path, line }) => ({
        check_id: rule.id,
        path,
        start: { line, col: 3 },
        end: { line, col: 3 + rule.code.length },
        extra: { message: rule.message, severity: rule.severity, lines: rule.code, metadata: { category: 'security', cwe: [rule.cwe] } },
      })),
    errors: [],
    paths: { scanned: [...new Set(weaknesses.map(({ path }) => path))].sort() },
  });
}

/** The output of `gitleaks git --report-format json`. Secrets are shortened, as with `--redact`. */
export function gitleaksReport({ repository: { secrets }, week }: CodeScan): string {
  const found = secrets.filter((secret) => isPresent(secret, week));
  return JSON.stringify(
    found.map(({ rule, line, commit }) => ({
      RuleID: rule.id,
      Description: rule.description,
      StartLine: line,
      EndLine: line,
      StartColumn: 8,
      EndColumn: 48,
      Match: 'REDACTED',
      Secret: 'REDACTED',
      File: rule.file,
      SymlinkFile: '',
      Commit: commit,
      Entropy: 4.1,
      Author: 'Build',
      Email: 'build@meridian-parcel.example',
      Date: '2026-03-02T09:12:00Z',
      Message: 'Set up the staging environment',
      Tags: [],
      Fingerprint: `${commit}:${rule.file}:${rule.id}:${line}`,
    })),
  );
}
