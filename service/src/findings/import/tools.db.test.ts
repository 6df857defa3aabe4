import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker, type Worker } from '../../jobs/worker.ts';
import { directReader } from '../../testing/findings/reader.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { importHandler } from '../handlers.ts';

let api: TestApi;
let worker: Worker;
beforeAll(async () => {
  api = await startApi();
  const log = { info: () => {}, error: () => {} };
  worker = await startWorker({ url: api.databaseUrl, db: api.db, handlers: [importHandler(api.blobs, api.follower, directReader)], concurrency: 1, log });
});
afterAll(async () => {
  await worker?.stop();
  await api?.close();
});

const repository = { type: 'repository', name: 'https://git.example.com/shop' };
async function send(report: unknown, filename = 'report.json'): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ filename, scan_scope: JSON.stringify({ coverage: 'complete', asset: repository }) });
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=20' };
  return (await api.call('POST', `/api/v1/imports?${query}`, { as: api.ours.owner, body: JSON.stringify(report), headers })).body as Record<string, unknown>;
}

const sarif = (tool: string, rules: string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: tool } },
      results: rules.map((ruleId) => ({
        ruleId,
        message: { text: 'a weakness' },
        locations: [{ physicalLocation: { artifactLocation: { uri: 'src/index.js' }, region: { startLine: 7 } } }],
      })),
    },
  ],
});
/** A minute later each time. */
const scanTime = (() => {
  let minutes = 0;
  return () => new Date(Date.UTC(2026, 0, 1, 0, minutes++)).toISOString().slice(0, 19);
})();
const gitlab = (scanner: string, ids: string[]) => ({
  version: '15.0.0',
  scan: { scanner: { id: scanner, name: scanner }, type: 'sast', status: 'success', start_time: scanTime(), end_time: scanTime() },
  vulnerabilities: ids.map((id) => ({
    id,
    severity: 'High',
    name: id,
    identifiers: [{ type: `${scanner}_id`, name: id, value: id }],
    location: { file: 'a.py', start_line: 1 },
  })),
});

it.each([
  ['SARIF', sarif],
  ['GitLab', gitlab],
])('a complete report of one tool in %s closes no findings of another tool, and an empty report names its tool', async (_, report) => {
  await send(report('Semgrep', ['eval', 'exec']));
  expect(await send(report('CodeQL', ['js/xss']))).toMatchObject({ status: 'succeeded', counts: { created: 1, closed: 0 } });
  expect(await send(report('Semgrep', []))).toMatchObject({ status: 'succeeded', counts: { closed: 2 } });
  expect(await send(report('CodeQL', ['js/xss']))).toMatchObject({ counts: { unchanged: 1, closed: 0 } });
});

const hub = (...checks: string[]) => ({
  Findings: checks.map((check) => ({
    Id: check,
    ProductArn: `arn:aws:securityhub:eu-west-1::product/acme/${check.split('/')[0]}`,
    GeneratorId: check,
    Title: 'A weakness',
    LastObservedAt: scanTime(),
  })),
});

it('a complete report of one product in the format of Security Hub closes no findings of other products', async () => {
  await send(hub('prowler/1', 'prowler/2'));
  expect(await send(hub('prowler/1', 'inspector/1'))).toMatchObject({ counts: { created: 1, closed: 0 } });
  expect(await send(hub('inspector/1'))).toMatchObject({ counts: { closed: 0 } });
  expect(await send(hub('guardduty/1'))).toMatchObject({ counts: { created: 1, closed: 0 } });
  expect(await send(hub(), 'aws_security_hub.json')).toMatchObject({ counts: { closed: 0 }, notes: [expect.stringContaining('does not name the tool')] });
  expect(await send(hub('prowler/1'))).toMatchObject({ counts: { closed: 1 } });
});

it('GitHub alerts of one kind close no alerts of another kind, and an empty list closes nothing', async () => {
  const code = [
    {
      number: 1,
      state: 'open',
      rule: { id: 'js/sql', severity: 'error', description: 'SQL injection' },
      tool: { name: 'CodeQL' },
      most_recent_instance: { location: { path: 'b.js', start_line: 3 } },
    },
  ];
  const secret = [
    {
      number: 1,
      state: 'open',
      secret_type: 'example_token',
      secret_type_display_name: 'Example',
      html_url: 'https://github.com/example/shop/security/secret-scanning/1',
    },
  ];
  expect(await send(code)).toMatchObject({ counts: { created: 1 } });
  expect(await send(secret)).toMatchObject({ counts: { created: 1, closed: 0 } });
  expect(await send([])).toMatchObject({ code: 'import_failed', detail: expect.stringContaining('ambiguous') });
});

it('an empty list closes the last leak if its file name names the tool, and is refused with a remedy if it does not', async () => {
  expect(await send([{ RuleID: 'aws-key', File: 'a.py', StartLine: 1, Match: 'REDACTED' }])).toMatchObject({ format: 'gitleaks', counts: { created: 1 } });
  const remedy = expect.stringMatching(/Set `format` to one of: .*gitleaks.* A file name with the name of the tool also helps/);
  expect(await send([], 'leaks.json')).toMatchObject({ code: 'import_failed', detail: remedy });
  expect(await send([], 'hadolint.json')).toMatchObject({ format: 'hadolint', counts: { closed: 0 } });
  expect(await send([], 'gitleaks-report.json')).toMatchObject({ format: 'gitleaks', counts: { closed: 1 } });
});

it('an empty list of findings of DefectDojo closes what its test has found, and one that other tools write as well is refused', async () => {
  const finding = { title: 'Weak hash', severity: 'High', description: 'MD5', file_path: 'a.py', line: 1 };
  expect(await send({ name: 'Nightly', type: 'Acme', findings: [finding] })).toMatchObject({ format: 'defectdojo_generic', counts: { created: 1 } });
  expect(await send({ findings: [{ title: 'Weak lock', severity: 'high', rule: 'lock' }] })).toMatchObject({ format: 'generic', counts: { created: 1 } });
  for (const filename of ['report.json', 'generic.json']) expect(await send({ findings: [] }, filename)).toMatchObject({ code: 'import_failed' });
  expect(await send({ name: 'Nightly', type: 'Acme', findings: [] })).toMatchObject({ format: 'defectdojo_generic', counts: { closed: 1 } });
});

it('a complete report of a failed run closes nothing and notes why', async () => {
  await send(sarif('Bandit', ['b101']));
  const broken = sarif('Bandit', []);
  const [run] = broken.runs;
  const failed = { ...broken, runs: [{ ...run, invocations: [{ executionSuccessful: false }] }] };
  expect(await send(failed)).toMatchObject({ counts: { closed: 0 }, notes: [expect.stringContaining('did not succeed')] });
  expect(await send(sarif('Bandit', []))).toMatchObject({ counts: { closed: 1 } });
});

it('an import shows what the report states about its scan, and null for the rest', async () => {
  const stated = await send({
    ...sarif('Scanner of versions', ['eval']),
    runs: sarif('Scanner of versions', ['eval']).runs.map((run) => ({
      ...run,
      tool: { driver: { name: 'Scanner of versions', semanticVersion: '2.7.1' } },
      invocations: [{ executionSuccessful: true, startTimeUtc: '2026-01-02T10:00:00Z', endTimeUtc: '2026-01-02T10:05:00Z' }],
    })),
  });
  expect((await api.call('GET', `/api/v1/imports/${stated.id}`, { as: api.ours.owner })).body).toMatchObject({
    scan: {
      tool_version: '2.7.1',
      started_at: '2026-01-02T10:00:00.000Z',
      finished_at: '2026-01-02T10:05:00.000Z',
      knowledge: null,
      knowledge_at: null,
      credentialed: null,
    },
  });
  expect(await send(sarif('Silent scanner', ['eval']))).toMatchObject({ scan: { tool_version: null, started_at: null, finished_at: null } });
});

it('a record without an asset is rejected by itself, and says what to do', async () => {
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=20' };
  const findings = [
    { title: 'Known host', severity: 'high', rule: 'r1', asset: { type: 'host', name: 'rule-37.example' } },
    { title: 'Nowhere', severity: 'high', rule: 'r2' },
  ];
  const { body } = await api.call('POST', '/api/v1/imports?format=generic', { as: api.ours.owner, body: JSON.stringify({ findings }), headers });
  expect(body).toMatchObject({
    status: 'succeeded',
    counts: { received: 2, created: 1, rejected: 1 },
    rejected: [{ place: 'findings[1]', reason: expect.stringContaining('Set `asset` in `scan_scope`') }],
  });
});
