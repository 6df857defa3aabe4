import { gzipSync } from 'node:zlib';
import type { OpenedPackage, StoredFile } from '@rrs/verifier';
import { describe, expect, it } from 'vitest';
import type { Claim } from './claims.ts';
import { type DeepFinding, deepCheck } from './deep-check.ts';

const ASSET = { id: 'asset', type: 'container_image', name: 'registry.example/shop' };

function claim(change: Partial<Claim> = {}): Claim {
  return {
    id: 'finding',
    title: 'A weakness',
    weakness: 'CVE-2026-1',
    cves: ['CVE-2026-1'],
    severity_source: 'high',
    fix_published_date: null,
    asset: ASSET,
    component: 'openssl',
    purl: null,
    place: null,
    occurrence_count: 0,
    occurrences: [],
    before: { state: 'present', scan: 'b' },
    after: { state: 'absent', scan: 'a', others: [], doubts: [] },
    ...change,
  };
}

interface Reported {
  id?: string;
  name?: string;
  fixed?: string;
  image?: string;
}

const trivy = (found: Reported[], image = 'registry.example/shop:1') =>
  JSON.stringify({
    SchemaVersion: 2,
    ArtifactName: image,
    ArtifactType: 'container_image',
    Results: [
      {
        Target: image,
        Class: 'lang-pkgs',
        Type: 'npm',
        Vulnerabilities: found.map(({ id = 'CVE-2026-1', name = 'openssl' }) => ({
          VulnerabilityID: id,
          PkgName: name,
          InstalledVersion: '1',
          Severity: 'HIGH',
        })),
      },
    ],
  });
const grype = (found: Reported[], image = 'registry.example/shop:1') =>
  JSON.stringify({
    matches: found.map(({ id = 'CVE-2026-1', name = 'openssl', fixed }) => ({
      vulnerability: { id, severity: 'High', fix: { versions: ['2'], state: 'fixed', available: fixed === undefined ? [] : [{ version: '2', date: fixed }] } },
      artifact: { name, version: '1', type: 'npm' },
    })),
    source: { type: 'image', target: { userInput: image } },
    descriptor: { name: 'grype', version: '0.90.0' },
  });
const semgrep = (lines: number[]) =>
  JSON.stringify({
    version: '1.100.0',
    results: lines.map((line) => ({
      check_id: 'rules.x',
      path: 'src/a.py',
      start: { line, col: 1 },
      end: { line, col: 2 },
      extra: { message: 'Weak', severity: 'ERROR' },
    })),
    errors: [],
  });

const stored = (content: string | Uint8Array): StoredFile => {
  const bytes = Buffer.from(content);
  return {
    size: bytes.length,
    sha256: '',
    bytes,
    async *reread() {
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    },
  };
};

interface Reports {
  before?: string | Uint8Array;
  after?: string | Uint8Array;
  formats?: [string, string];
  findings?: Claim[];
  inLines?: boolean;
}

function packageOf({ before = trivy([{}]), after = trivy([]), formats = ['trivy', 'trivy'], findings = [claim()], inLines = false }: Reports): OpenedPackage {
  const scan = (id: string, format: string) => ({ id, format, filename: null, file: `data/${id}` });
  const evidence = { scans: [scan('b', formats[0]), scan('a', formats[1]), { ...scan('gone', 'trivy'), file: null }], ...(inLines ? {} : { findings }) };
  const lines = findings.map((finding) => `${JSON.stringify(finding)}\n`).join('');
  const files = { 'data/evidence.json': JSON.stringify(evidence), 'data/b': before, 'data/a': after, ...(inLines ? { 'data/findings.jsonl': lines } : {}) };
  return { folder: { workItemId: '', sequence: 1 }, bytes: 0, files: new Map(Object.entries(files).map(([path, content]) => [path, stored(content)])) };
}

async function only(reports: Reports): Promise<Pick<DeepFinding, 'result' | 'reasons'>> {
  const [finding] = await deepCheck(packageOf(reports));
  if (!finding) throw new Error('there is no finding');
  return { result: finding.result, reasons: finding.reasons };
}

describe('a finding is confirmed', () => {
  it('if the report before contains it and the report after does not', async () => {
    expect(await only({})).toEqual({ result: 'confirmed', reasons: [] });
    expect(await only({ before: gzipSync(trivy([{}])) })).toEqual({ result: 'confirmed', reasons: [] });
  });

  it('if findings are in a file of their own', async () => {
    const findings = Array.from({ length: 50 }, (_, n) => claim({ id: String(n) }));
    expect((await deepCheck(packageOf({ findings, inLines: true }))).map(({ result }) => result)).toEqual(Array(50).fill('confirmed'));
  });

  it('if the report after shows other weaknesses, other components and other assets', async () => {
    const after = trivy([{ id: 'CVE-2026-2' }, { name: 'zlib' }]);
    expect(await only({ after })).toMatchObject({ result: 'confirmed' });
  });

  it('by an alias that the package lists', async () => {
    const findings = [claim({ weakness: 'GHSA-aaaa-bbbb-cccc', cves: ['CVE-2026-1'] })];
    expect(await only({ findings, before: trivy([{ id: 'GHSA-aaaa-bbbb-cccc' }]) })).toMatchObject({ result: 'confirmed' });
    expect(await only({ findings, after: trivy([{ id: 'CVE-2026-1' }]) })).toMatchObject({ result: 'contradicted' });
  });
});

describe('a finding is contradicted', () => {
  it('if the report after still contains it, and the position is named', async () => {
    const reasons = ['The report after the fix still contains the finding (Results[0].Vulnerabilities[1]).'];
    expect(await only({ after: trivy([{ id: 'CVE-2026-9' }, {}]) })).toEqual({ result: 'contradicted', reasons });
    expect(await only({ after: grype([{}]), formats: ['trivy', 'grype'] })).toMatchObject({ result: 'contradicted' });
  });

  it('if the report before does not contain it', async () => {
    expect(await only({ before: trivy([{ id: 'CVE-2026-9' }]) })).toEqual({
      result: 'contradicted',
      reasons: ['The report before the fix does not contain the finding.'],
    });
  });

  it('if the report before rates it higher than the package does', async () => {
    const reasons = ['The report before the fix rates the finding higher than the package, which says medium.'];
    expect(await only({ findings: [claim({ severity_source: 'medium' })] })).toEqual({ result: 'contradicted', reasons });
    expect(await only({ findings: [claim({ severity_source: 'critical' })] })).toMatchObject({ result: 'confirmed' });
    // Of several records of one finding, the service may count a lower one.
    const mixed = trivy([{}, {}]).replace('"HIGH"', '"MEDIUM"');
    expect(await only({ before: mixed, findings: [claim({ severity_source: 'medium' })] })).toMatchObject({ result: 'confirmed' });
  });

  it('if the report before states that a fix was published earlier', async () => {
    const findings = [claim({ fix_published_date: '2026-03-02' })];
    const result = async (...found: Reported[]) => await only({ findings, before: grype(found), formats: ['grype', 'trivy'] });
    const reasons = ['The report before the fix states that a fix was published before 2026-03-02, which the package says.'];
    expect(await result({ fixed: '2026-03-01' })).toEqual({ result: 'contradicted', reasons });
    // Another source can state an earlier day. Of several records of one finding, the service may count a later one.
    for (const found of [
      [{ fixed: '2026-03-02' }],
      [{ fixed: '2026-04-01' }],
      [{ fixed: '2026-03-01' }, { fixed: '2026-03-02' }],
      [{ fixed: '2026-03-01' }, {}],
    ])
      expect(await result(...found)).toMatchObject({ result: 'confirmed' });
    // Another source still sees the finding, and only what it states counts.
    const seen = [claim({ fix_published_date: '2026-03-02', after: { state: 'present', scan: 'a', others: [], doubts: [] } })];
    expect(await only({ findings: seen, before: grype([{ fixed: '2026-03-01' }]), formats: ['grype', 'trivy'] })).toMatchObject({ result: 'not_checkable' });
  });

  it('if the after report still contains it and has a record that cannot be read', async () => {
    expect(await only({ after: trivy([{}]).replace('"Vulnerabilities":[', '"Vulnerabilities":["x",') })).toMatchObject({ result: 'contradicted' });
  });
});

it('a report on a part of a repository names paths from there, and the package from the root', async () => {
  const seen = { component_version: null, source: 'semgrep', track: '', first_seen: '2026-01-01T00:00:00.000Z', last_seen: '2026-01-01T00:00:00.000Z' };
  const occurrences = [{ place: 'path svc/a/src/a.py', state: 'absent' as const, ...seen }];
  const code = claim({
    weakness: 'semgrep:rules.x',
    cves: [],
    component: null,
    place: 'svc/a/src/a.py:3',
    asset: { ...ASSET, type: 'repository' },
    occurrences,
    occurrence_count: 1,
  });
  const reports = { findings: [code], before: semgrep([3]), formats: ['semgrep', 'semgrep'] as [string, string] };
  expect(await only({ ...reports, after: semgrep([]) })).toMatchObject({ result: 'confirmed' });
  expect(await only({ ...reports, after: semgrep([9]) })).toMatchObject({ result: 'not_checkable' });
  expect(await only({ ...reports, after: semgrep([3]) })).toMatchObject({ result: 'contradicted' });
  expect(await only({ ...reports, before: semgrep([3]).replace('src/a.py', 'b/a.py') })).toMatchObject({ result: 'contradicted' });
});

describe('a finding is not checkable', () => {
  it.for<[string, string | Uint8Array]>([
    ['garbage', Buffer.alloc(100_000, 0xff)],
    ['nested without end', `{"SchemaVersion":2,"Results":${'['.repeat(300_000)}`],
    ['cut off', trivy([]).slice(0, -3)],
    ['a damaged archive', gzipSync(trivy([])).subarray(0, 40)],
    ['one with a record that cannot be read', trivy([]).replace('"Vulnerabilities":[', '"Vulnerabilities":["x"')],
    ['empty', ''],
  ])('if the report after is %s', async ([, after]) => {
    expect(await only({ after })).toEqual({ result: 'not_checkable', reasons: [expect.stringMatching(/^Scan after the fix: .+ cannot be read/)] });
  });

  it('if the package names no scan or does not contain the report', async () => {
    const findings = [claim({ before: { state: 'unknown', scan: null }, after: { state: 'unknown', scan: null, others: [], doubts: [] } })];
    expect(await only({ findings })).toMatchObject({ result: 'not_checkable', reasons: [expect.any(String), expect.any(String)] });
    expect(await only({ findings: [claim({ before: { state: 'present', scan: 'gone' } })] })).toMatchObject({
      result: 'not_checkable',
      reasons: ['Scan before the fix: the package does not contain the report.'],
    });
  });

  it('if the reports name the asset differently', async () => {
    expect(await only({ before: trivy([{}], 'elsewhere/shop:1') })).toMatchObject({ result: 'not_checkable' });
    expect(await only({ after: trivy([{}], 'elsewhere/shop:1') })).toMatchObject({ result: 'not_checkable' });
  });

  it('if another tool reports another kind of ID in the component', async () => {
    const after = grype([{ id: 'GHSA-aaaa-bbbb-cccc' }]);
    expect(await only({ after, formats: ['trivy', 'grype'] })).toMatchObject({ result: 'not_checkable', reasons: [expect.stringContaining('alias')] });
  });

  it('if the same check fails at another line of the file', async () => {
    const code = claim({ weakness: 'semgrep:rules.x', cves: [], component: null, place: 'src/a.py:3', asset: { ...ASSET, type: 'repository' } });
    const reports = { findings: [code], before: semgrep([3]), formats: ['semgrep', 'semgrep'] as [string, string] };
    expect(await only({ ...reports, after: semgrep([9]) })).toMatchObject({ result: 'not_checkable' });
    expect(await only({ ...reports, after: semgrep([3]) })).toMatchObject({ result: 'contradicted' });
    expect(await only({ ...reports, after: semgrep([]) })).toMatchObject({ result: 'confirmed' });
  });
});
