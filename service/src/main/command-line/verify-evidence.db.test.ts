import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { bytesSource, createRecorder, readPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { comparePdf } from '../../evidence/deep/compare-pdf.ts';
import type { DeepFinding } from '../../evidence/deep/deep-check.ts';
import { deepCheckFile } from '../../evidence/deep/deep-check-file.ts';
import { ChildFailure } from '../../jobs/children/child.ts';
import { usePackages } from '../../testing/evidence/packages.ts';
import { verifyEvidence } from './verify-evidence.ts';

const cve = (n: number): string => `CVE-2026-${10_000 + n}`;
const day = (n: number): string => new Date(Date.UTC(2026, 2, n, 6)).toISOString();

/** Reports as the tools write them, with these findings. */
const writers = {
  trivy: (found: number[], at: number) =>
    JSON.stringify({
      SchemaVersion: 2,
      CreatedAt: day(at),
      ArtifactName: 'trivy.example/shop:prod',
      ArtifactType: 'container_image',
      Results: [
        {
          Target: 'trivy.example/shop:prod (debian 12)',
          Class: 'os-pkgs',
          Type: 'debian',
          Vulnerabilities: found.map((n) => ({ VulnerabilityID: cve(n), PkgName: `lib${n}`, InstalledVersion: '1', FixedVersion: '2', Severity: 'HIGH' })),
        },
      ],
    }),
  grype: (found: number[], at: number) =>
    JSON.stringify({
      matches: found.map((n) => ({
        vulnerability: { id: `GHSA-aaaa-bbbb-${String(2000 + n)}`, severity: 'High', fix: { versions: ['2'], state: 'fixed' } },
        relatedVulnerabilities: [{ id: cve(100 + n) }],
        artifact: { name: `module${n}`, version: '1', type: 'npm', purl: `pkg:npm/module${n}@1` },
      })),
      source: { type: 'image', target: { userInput: 'grype.example/shop:prod', manifestDigest: `sha256:${String(at).repeat(64)}` } },
      descriptor: { name: 'grype', version: '0.90.0', timestamp: day(at), db: { built: day(at) } },
    }),
  nessus: (found: number[], at: number) => {
    const time = new Date(day(at)).toUTCString();
    const item = (n: number) =>
      `<ReportItem port="443" svc_name="www" protocol="tcp" severity="3" pluginID="${50_000 + n}" pluginName="Check ${n}" pluginFamily="Web"><risk_factor>High</risk_factor><cve>${cve(200 + n)}</cve></ReportItem>`;
    return `<?xml version="1.0" ?><NessusClientData_v2><Report name="weekly"><ReportHost name="nessus.example.com"><HostProperties>
      <tag name="host-fqdn">nessus.example.com</tag><tag name="HOST_START">${time}</tag><tag name="HOST_END">${time}</tag><tag name="Credentialed_Scan">true</tag>
      </HostProperties>${found.map(item).join('')}</ReportHost></Report></NessusClientData_v2>`;
  },
  semgrep: (found: number[]) =>
    JSON.stringify({
      version: '1.100.0',
      results: found.map((n) => ({
        check_id: `rules.check-${n}`,
        path: `src/file${n}.py`,
        start: { line: n, col: 1, offset: 0 },
        end: { line: n, col: 9, offset: 8 },
        extra: { message: `Weak ${n}`, severity: 'ERROR', metadata: {}, fingerprint: `f${n}`, lines: 'x' },
      })),
      errors: [],
      paths: { scanned: ['src/file1.py', 'src/file2.py'] },
    }),
};
type Format = keyof typeof writers;
const assets: Record<Format, { type: string; name: string } | null> = {
  trivy: null,
  grype: null,
  nessus: null,
  semgrep: { type: 'repository', name: 'github.com/acme/shop' },
};

const world = usePackages();
let folder: string;
let item: string;
const [before, after] = [new Map<Format, string>(), new Map<Format, string>()];

async function importReport(format: Format, body: string): Promise<string> {
  const asset = assets[format];
  const query = new URLSearchParams({ format, scan_scope: JSON.stringify({ coverage: 'complete', ...(asset ? { asset } : {}), track: 'prod' }) });
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=30' };
  const done = await world.post<{ id: string; status: string }>(`/imports?${query}`, body, undefined, headers);
  expect(done).toMatchObject({ status: 'succeeded' });
  return done.id;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rrs-deep-'));
  for (const [format, write] of Object.entries(writers) as [Format, (typeof writers)[Format]][]) {
    before.set(format, await importReport(format, write([1, 2], 1)));
    after.set(format, await importReport(format, write([2], 2)));
  }
  ({ id: item } = await world.workItem('Fixed in four tools', { status: ['verified'] }));
  await writeFile(join(folder, 'keys.json'), JSON.stringify(await world.get('/riskops-evidence/keys')));
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

/** A dishonest operator stores another file as the report of an import, and changes the audit trail to match. */
async function replaceReport(id: string, content: string): Promise<() => Promise<void>> {
  const { databaseUrl, blobs } = world.api();
  const { sha256, size } = await blobs.put(Readable.from([Buffer.from(content)]));
  const put = (report: { sha256: string; bytes: string }) =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query('select sha256, bytes from rrs.imports where id = $1', [id]);
      await client.query('set session_replication_role = replica');
      await client.query('update rrs.imports set sha256 = $2, bytes = $3 where id = $1', [id, report.sha256, report.bytes]);
      await client.query(
        `update rrs.audit_events set after = after || jsonb_build_object('sha256', $2::text) where object_id = $1 and action = 'import.created'`,
        [id, report.sha256],
      );
      return rows[0];
    });
  const stored = await put({ sha256, bytes: String(size) });
  return async () => void (await put(stored));
}

async function sealTo(name: string, formats = ['json']): Promise<string> {
  const { package_id } = await world.seal(item, { formats });
  await writeFile(join(folder, name), await world.download(package_id));
  return join(folder, name);
}

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' };
  const add = (stream: keyof typeof printed) => (text: string) => {
    printed[stream] += text;
  };
  const code = await verifyEvidence([...args, '--keys', join(folder, 'keys.json')], { out: add('out'), err: add('err'), color: false });
  return { code, ...printed };
}

async function deep(path: string): Promise<{ code: number; results: Record<string, DeepFinding['result']>; reasons: string[] }> {
  const { code, out, err } = await run('--deep', path, '--json');
  expect(err).toBe('');
  const { findings } = (JSON.parse(out) as { deep: { findings: DeepFinding[] } }).deep;
  return {
    code,
    results: Object.fromEntries(findings.map(({ title, result }) => [title, result])),
    reasons: findings.flatMap(({ reasons }) => reasons),
  };
}

describe('rrs-server evidence verify --deep', () => {
  it('confirms findings of four formats from the original reports', async () => {
    const path = await sealTo('honest.zip');
    const { code, results, reasons } = await deep(path);
    expect(reasons).toEqual([]);
    expect(Object.values(results)).toEqual(Array(4).fill('confirmed'));
    expect(code).toBe(0);
    expect((await run('--deep', path)).out).toContain('Deep check\n  4 of 4 findings: confirmed by the original reports\n');
    expect((await run(path)).out).not.toContain('Deep check');
  });

  it('refuses a package whose report after the fix still shows the finding', async () => {
    const restore = await replaceReport(after.get('nessus') ?? '', writers.nessus([1, 2], 2));
    const path = await sealTo('still-there.zip');
    await restore();
    expect((await run(path)).code).toBe(0);
    const { code, results, reasons } = await deep(path);
    expect(code).toBe(1);
    expect(Object.values(results).sort()).toEqual(['confirmed', 'confirmed', 'confirmed', 'contradicted']);
    expect(reasons).toEqual([expect.stringMatching(/^The report after the fix still contains the finding \(.+\)\.$/)]);
    expect((await run('--deep', path)).out).toContain('1 of 4 findings: CONTRADICTED by the original reports');
  });

  it('refuses a package whose report before the fix does not show the finding', async () => {
    const restore = await replaceReport(before.get('trivy') ?? '', writers.trivy([2], 1));
    const path = await sealTo('never-there.zip');
    await restore();
    const { code, reasons } = await deep(path);
    expect(code).toBe(1);
    expect(reasons).toEqual(['The report before the fix does not contain the finding.']);
  });

  it('writes the PDF again and compares it', async () => {
    const path = await sealTo('with-pdf.zip', ['pdf']);
    expect(await run('--deep', path)).toMatchObject({ code: 0, out: expect.stringContaining('report.pdf is exactly what the evidence says') });
    const opened = await readPackage(bytesSource(await readFile(path)), nodePlatform(), createRecorder());
    const pdf = opened?.files.get('data/report.pdf');
    if (!opened || !pdf) throw new Error('the package has no PDF');
    const { version } = world.sealing();
    expect(await comparePdf(opened, version)).toBe('same');
    opened.files.set('data/report.pdf', { ...pdf, sha256: 'ab'.repeat(32) });
    expect(await comparePdf(opened, version)).toBe('different');
    expect(await comparePdf(opened, 'another one')).toBe('other_version');
    opened.files.delete('data/report.pdf');
    expect(await comparePdf(opened, version)).toBe('absent');
  });

  it('does not read the reports of a package that fails', async () => {
    const path = join(folder, 'broken.zip');
    await writeFile(path, 'not a package');
    const { code, out } = await run('--deep', path);
    expect(code).toBe(1);
    expect(out).not.toContain('Deep check');
    expect((await run('--deep', join(folder, 'none.zip'))).code).toBe(2);
  });

  it('stops at a limit', async () => {
    const path = await sealTo('slow.zip');
    await expect(deepCheckFile({ path, version: '0.0.0' }, { heapMb: 512, timeMs: 1 })).rejects.toThrow(ChildFailure);
  });
});
