import { type Random, randomOf } from '../random.ts';
import { jsonReport, type LabelledReport, placeOf, repositoryScope } from './report.ts';

/** Weaknesses in the code of a repository. Lines move from one scan to the next. */
export interface CodeHit {
  tool: 'semgrep' | 'codeql' | 'gitleaks' | 'checkov';
  rule: string;
  path: string;
  /** In each scan. */
  lines: readonly number[];
  snippet: string;
  /** Of code that describes infrastructure. */
  resource: string | null;
  label: string;
}

const rules = {
  semgrep: ['python.lang.security.audit.eval-detected', 'python.django.security.injection.sql', 'javascript.express.security.xss'],
  codeql: ['py/sql-injection', 'js/xss', 'py/eval-detected'],
  gitleaks: ['generic-api-key', 'aws-access-token'],
  checkov: ['CKV_AWS_18', 'CKV_AWS_21', 'CKV_AWS_145'],
} as const;
const files = {
  semgrep: ['src/orders.py', 'src/api/orders.py', 'lib/orders.py', 'web/orders.js'],
  codeql: ['src/orders.py', 'src/api/orders.py', 'web/orders.js'],
  gitleaks: ['deploy/prod.env', 'deploy/test.env'],
  checkov: ['s3.tf', 'modules/s3.tf'],
} as const;
const tools = ['semgrep', 'codeql', 'gitleaks', 'checkov'] as const;

/** Each rule matches up to three times in a file. Between the scans, code was added at the top of some files. */
export function codeHits(repository: string, seed: number, scans: number): CodeHit[] {
  const random = randomOf(seed + 20_000);
  return tools.flatMap((tool) =>
    files[tool].flatMap((path) => {
      let moved = 0;
      const shifts = Array.from({ length: scans }, (_, scan) => (moved += scan > 0 && random.chance(0.5) ? random.number(60) : 0));
      return rules[tool].filter(() => random.chance(0.8)).flatMap((rule) => hitsOf({ tool, rule, path, repository }, shifts, random));
    }),
  );
}

function hitsOf(
  { tool, rule, path, repository }: { tool: CodeHit['tool']; rule: string; path: string; repository: string },
  shifts: readonly number[],
  random: Random,
): CodeHit[] {
  let line = 3 + random.number(20);
  return Array.from({ length: 1 + random.number(3) }, (_, n) => {
    line += 5 + random.number(60);
    const start = line;
    return {
      tool,
      rule,
      path,
      lines: shifts.map((shift) => start + shift),
      snippet: `value${n} = run(input${random.number(1000)})`,
      resource: tool === 'checkov' ? `aws_s3_bucket.bucket_${n}` : null,
      label: `repository ${repository}: ${tool} ${rule} in ${path}, place ${n}`,
    };
  });
}

export interface CodeScan {
  repository: string;
  hits: readonly CodeHit[];
  /** The number of the scan, from 0. */
  turn: number;
  spelling: number;
}

const lineOf = (lines: readonly number[], turn: number): number => lines[turn] ?? 1;
const ofTool = ({ hits }: CodeScan, tool: CodeHit['tool']): CodeHit[] => hits.filter((hit) => hit.tool === tool);

function labelled(report: LabelledReport, hits: readonly CodeHit[], { turn }: CodeScan): LabelledReport {
  const labelAt = new Map(
    hits.map(({ rule, path, lines, resource, label }) => [
      placeOf({ rule, location: { path, line: lineOf(lines, turn), ...(resource === null ? {} : { resource }) } }),
      label,
    ]),
  );
  return { ...report, labelAt };
}

export function semgrep(scan: CodeScan): LabelledReport {
  const { repository, turn, spelling } = scan;
  const hits = ofTool(scan, 'semgrep');
  const results = hits.map(({ rule, path, lines, snippet }) => ({
    check_id: rule,
    path,
    start: { line: lineOf(lines, turn), col: 1, offset: 0 },
    end: { line: lineOf(lines, turn), col: 20, offset: 20 },
    extra: {
      message: `Rule ${rule} matched.`,
      severity: 'ERROR',
      metadata: { cwe: ['CWE-95: Eval'] },
      fingerprint: 'requires login',
      lines: snippet,
      is_ignored: false,
    },
  }));
  const content = { version: '1.90.0', results, errors: [], paths: { scanned: [...files.semgrep] } };
  return labelled(jsonReport('semgrep', 'semgrep', content, repositoryScope(repository, spelling)), hits, scan);
}

const drivers = { semgrep: 'Semgrep OSS', codeql: 'CodeQL' } as const;

/** CodeQL adds a fingerprint of the line, Semgrep quotes the code. */
export function sarif(scan: CodeScan, tool: keyof typeof drivers): LabelledReport {
  const { repository, turn, spelling } = scan;
  const hits = ofTool(scan, tool);
  const results = hits.map(({ rule, path, lines, snippet, label }) => ({
    ruleId: rule,
    message: { text: `Rule ${rule} matched.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path, uriBaseId: '%SRCROOT%' },
          region: {
            startLine: lineOf(lines, turn),
            startColumn: 1,
            endColumn: 20,
            ...(tool === 'semgrep' ? { endLine: lineOf(lines, turn), snippet: { text: snippet } } : {}),
          },
        },
      },
    ],
    ...(tool === 'codeql'
      ? { partialFingerprints: { primaryLocationLineHash: `${hash(`${path}${snippet}${label}`)}:1` } }
      : { fingerprints: { 'matchBasedId/v1': 'requires login' } }),
  }));
  const content = {
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: drivers[tool], semanticVersion: '2.20.0', rules: [...new Set(hits.map(({ rule }) => rule))].map((id) => ({ id })) } },
        results,
      },
    ],
  };
  return labelled(jsonReport(tool, 'sarif', content, repositoryScope(repository, spelling)), hits, scan);
}

function hash(text: string): string {
  let sum = 7;
  for (const character of text) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) >>> 0;
  return sum.toString(16).padStart(16, 'a');
}

export function gitleaks(scan: CodeScan): LabelledReport {
  const { repository, turn, spelling } = scan;
  const hits = ofTool(scan, 'gitleaks');
  const content = hits.map(({ rule, path, lines, snippet }) => ({
    Description: `Rule ${rule} matched.`,
    StartLine: lineOf(lines, turn),
    EndLine: lineOf(lines, turn),
    StartColumn: 1,
    EndColumn: 20,
    Match: snippet,
    Secret: snippet,
    File: path,
    Commit: '',
    Entropy: 3.8,
    Tags: [],
    RuleID: rule,
    Fingerprint: `${path}:${rule}:${lineOf(lines, turn)}`,
  }));
  return labelled(jsonReport('gitleaks', 'gitleaks', content, repositoryScope(repository, spelling)), hits, scan);
}

export function checkov(scan: CodeScan): LabelledReport {
  const { repository, turn, spelling } = scan;
  const hits = ofTool(scan, 'checkov');
  const failed = hits.map(({ rule, path, lines, resource }) => ({
    check_id: rule,
    check_name: `Check ${rule}`,
    check_result: { result: 'FAILED' },
    file_path: `/${path}`,
    repo_file_path: `/${path}`,
    file_line_range: [lineOf(lines, turn), lineOf(lines, turn) + 4],
    resource,
    severity: null,
    guideline: null,
  }));
  const content = {
    check_type: 'terraform',
    results: { passed_checks: [], failed_checks: failed, skipped_checks: [], parsing_errors: [] },
    summary: { passed: 0, failed: failed.length, skipped: 0, parsing_errors: 0, resource_count: 9, checkov_version: '3.2.1' },
  };
  return labelled(jsonReport('checkov', 'checkov', content, repositoryScope(repository, spelling)), hits, scan);
}
