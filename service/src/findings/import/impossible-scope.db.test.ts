import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type Worker } from '../../jobs/worker.ts';
import { directReader } from '../../testing/findings/reader.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { withFailedImport } from '../../testing/http/failed-import.ts';
import { importHandler } from '../handlers.ts';

interface Import {
  status: string;
  error: string | null;
  notes: string[];
  counts: Record<string, number>;
  errors: { path: string; detail: string }[];
}

let api: TestApi;
let worker: Worker;
beforeAll(async () => {
  api = await startApi();
  const handlers = [importHandler(api.blobs, api.follower, directReader)];
  worker = await startWorker({ url: api.databaseUrl, db: api.db, handlers, concurrency: 1, log: { info: () => {}, error: () => {} } });
});
afterAll(async () => {
  await worker?.stop();
  await api?.close();
});

async function send(report: object, scan_scope: object): Promise<{ status: number; body: Import }> {
  const query = new URLSearchParams({ scan_scope: JSON.stringify(scan_scope), ...('findings' in report ? { format: 'generic' } : {}) });
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=20' };
  const answer = await api.call('POST', `/api/v1/imports?${query}`, { as: api.ours.owner, body: JSON.stringify(report), headers });
  const { status, body } = await withFailedImport(api, answer, api.ours.owner);
  return { status, body: body as Import };
}
const open = async (asset: string): Promise<number> => {
  const { body } = await api.call('GET', `/api/v1/findings?asset=${encodeURIComponent(asset)}&status=open`, { as: api.ours.owner });
  return (body as { data: unknown[] }).data.length;
};

const DIGEST = `sha256:${'a'.repeat(64)}`;
const weakness = { VulnerabilityID: 'CVE-2024-0001', PkgName: 'openssl', InstalledVersion: '3.0.0', Severity: 'HIGH' };
const trivy = (name: string, Vulnerabilities: object[] = [weakness]) => ({
  SchemaVersion: 2,
  ArtifactName: name,
  ArtifactType: 'container_image',
  Metadata: { RepoDigests: [`${name}@${DIGEST}`] },
  Results: [{ Target: `${name} (debian 12)`, Class: 'os-pkgs', Type: 'debian', Vulnerabilities }],
});
const host = (name: string) => ({ type: 'host', name });
const found = (name: string) => ({ title: 'Weak cipher', severity: 'high', rule: 'weak-cipher', asset: host(name) });
const sarif = (branch: string) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'Scanner' } },
      versionControlProvenance: [{ repositoryUri: 'https://git.example.com/scope/branch', branch }],
      results: [{ ruleId: 'x', message: { text: 'x' }, locations: [{ physicalLocation: { artifactLocation: { uri: 'a.js' }, region: { startLine: 1 } } }] }],
    },
  ],
});

describe('a scan scope that no scan can have', () => {
  const repository = { type: 'repository', name: 'https://git.example.com/scope/one' };
  it.each<[string, object, string]>([
    ['begins in the future', { started_at: new Date(Date.now() + 3_600_000).toISOString() }, '/scan_scope/started_at'],
    ['has a build of nothing', { asset: 'unspecified', version: '1.4.2' }, '/scan_scope/version'],
    ['leads out of the repository', { asset: repository, path: 'services/../../other' }, '/scan_scope/path'],
    ['has an absolute path', { asset: repository, path: '/etc/passwd' }, '/scan_scope/path'],
    ['has a path of another machine', { asset: repository, path: 'C:\\src\\pay' }, '/scan_scope/path'],
    ['has a part of a host', { asset: host('web.example.com'), path: 'services/pay' }, '/scan_scope/path'],
  ])('is refused if it %s', async (_, scope, path) => {
    const { status, body } = await send(trivy('refused:prod'), scope);
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.objectContaining({ path, detail: expect.any(String) })]);
  });

  it('is not confused with an unusual one', async () => {
    const lockFile = { ...trivy('.'), ArtifactType: 'filesystem', Metadata: {} };
    const scope = { asset: repository, path: './services/..pay/../pay', version: '1.4.2', started_at: new Date(Date.now() + 60_000).toISOString() };
    expect(await send(lockFile, scope)).toMatchObject({ status: 202, body: { status: 'succeeded', counts: { created: 1 } } });
  });
});

describe('a report that contradicts its scan scope', () => {
  const image = { type: 'container_image', name: 'registry.example.com/scope/shop' };

  it.each<[string, object, object, string]>([
    ['a pull request', sarif('refs/pull/17/merge'), { track: 'main' }, 'pull request "refs/pull/17/merge"'],
    ['another branch', sarif('refs/heads/release-1.4'), { track: 'main' }, 'the branch "release-1.4"'],
    ['a pull request, by its version', trivy('registry.example.com/scope/shop'), { asset: image, track: 'main', version: 'pr-17' }, 'pull request "pr-17"'],
    ['an image, not a host', trivy('registry.example.com/scope/shop:prod'), { asset: host('shop.example.com') }, 'is a host'],
    ['an image, which has no parts', trivy('registry.example.com/scope/shop:prod'), { path: 'services/pay' }, 'Leave out the path'],
    ['several assets, not one', { findings: [found('one.example.com'), found('two.example.com')] }, { asset: host('one.example.com') }, 'several assets'],
    ['several assets, not one build', { findings: [found('one.example.com'), found('two.example.com')] }, { version: '1.4.2' }, 'names a build of one asset'],
  ])('is about %s: the import fails, says why and changes nothing', async (_, report, scope, reason) => {
    await send(trivy('registry.example.com/scope/shop:main'), { track: 'main', coverage: 'complete' });
    const { body } = await send(report, { ...scope, coverage: 'complete' });
    expect(body).toMatchObject({ status: 'failed', error: expect.stringContaining(reason), counts: { created: 0, closed: 0 } });
    expect(await open('registry.example.com/scope/shop')).toBe(1);
  });

  it('can be sent again with the right scope', async () => {
    const report = trivy('registry.example.com/scope/again:prod');
    expect((await send(report, { asset: host('again.example.com') })).body).toMatchObject({ status: 'failed' });
    expect((await send(report, {})).body).toMatchObject({ status: 'succeeded', counts: { created: 1 } });
  });
});

describe('a report whose own times are impossible', () => {
  const gitlab = (start_time: string, end_time: string, files: readonly string[]) => ({
    version: '15.0.7',
    scan: { scanner: { id: 'semgrep', name: 'Semgrep' }, type: 'sast', status: 'success', start_time, end_time },
    vulnerabilities: files.map((file) => ({
      id: file,
      name: 'Use of eval',
      severity: 'High',
      identifiers: [{ type: 'semgrep_id', name: 'eval', value: 'eval' }],
      location: { file, start_line: 1 },
    })),
  });

  it.each<[string, [string, string]]>([
    ['in the future', ['2099-01-01T00:00:00', '2099-01-01T00:00:10']],
    ['an end before its start', ['2026-03-01T00:00:10', '2026-02-28T00:00:00']],
  ])('has them %s: it opens findings and closes none', async (name, times) => {
    const asset = { type: 'repository', name: `https://git.example.com/scope/times-${name.replaceAll(' ', '-')}` };
    const scan = (own: [string, string], files: readonly string[]) => send(gitlab(...own, files), { asset, track: 'main', coverage: 'complete' });
    await scan(['2026-01-01T00:00:00', '2026-01-01T00:00:10'], ['a.js']);
    const { body } = await scan(times, ['b.js']);
    expect(body).toMatchObject({
      status: 'succeeded',
      counts: { closed: 0 },
      notes: [expect.stringContaining('the time that the report states cannot be right')],
    });
    expect(await open(asset.name)).toBe(2);
  });
});
