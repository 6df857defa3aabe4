import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpLimits } from '../../core/http-host.ts';
import { serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { reportUrlFake } from './fake.ts';
import { reportUrl } from './index.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/reports/latest.json`, requests };
}

type Values = Record<string, string>;
const contextFor = (config: Values, credentials: Values = {}, limits: Partial<HttpLimits> = {}) =>
  contextOf(reportUrl, { config: { prefix: '', suffix: '', region: 'us-east-1', coverage: 'complete', ...config }, credentials }, limits);
const read = (config: Values, credentials?: Values) => collect(reportUrl, contextFor(config, credentials));

const records = (count: number, text = ''): string =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ title: `Weakness ${n}`, severity: 'low', asset_name: 'printer', description: text })));
const titles = (items: Awaited<ReturnType<typeof read>>['items']) => items.map((item) => ('observation' in item ? item.observation.title : 'rejected'));
const whole = (text: string) => (_: IncomingMessage, response: ServerResponse) => response.writeHead(200, { etag: '"1"' }).end(text);

/** In a format that is read several times. */
const sarif = (text: string): string =>
  JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'checker' } }, results: [{ ruleId: 'r1', message: { text } }] }] });

/** Sends the first half and closes the connection once, then sends the requested range. */
function breaking(text: string, headers: (times: number) => Values, ranges: boolean) {
  let times = 0;
  return (request: IncomingMessage, response: ServerResponse) => {
    const bytes = Buffer.from(text);
    const [, from = 0] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    if (times++ > 0) return response.writeHead(ranges ? 206 : 200, headers(times)).end(ranges ? bytes.subarray(Number(from)) : bytes);
    response.writeHead(200, { ...headers(times), 'content-length': String(bytes.length) });
    return response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  };
}

describe('a URL', () => {
  it('is requested once, with a token or a user name and password', async () => {
    const { url, requests } = await serve(whole(records(3)));
    expect(await read({ url }, { token: 'a-token' })).toMatchObject({ coverage: 'complete', cursor: null });
    await read({ url }, { username: 'ci', password: 'secret' });
    await read({ url });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-token', `Basic ${Buffer.from('ci:secret').toString('base64')}`, undefined]);
  });

  it('returns a large report in batches and resumes after an interruption', async () => {
    const { url } = await serve(whole(records(2_500)));
    const run = await read({ url });
    expect(run.checkpoints).toMatchObject([{ items: 1_000 }, { items: 2_000 }, { items: 2_500, isDone: true }]);
    const rest = await collect(reportUrl, { ...contextFor({ url }), checkpoint: run.checkpoints[0] ?? null });
    expect(titles(rest.items)).toEqual(titles(run.items).slice(1_000));
    expect((await collect(reportUrl, { ...contextFor({ url }), checkpoint: run.checkpoints[2] ?? null })).items).toEqual([]);
  });

  it('is read from the start if the report has or may have changed', async () => {
    const { url } = await serve(whole(records(1_500)));
    const [checkpoint = null] = (await read({ url })).checkpoints;
    const replaced = await serve((_, response) => response.writeHead(200, { etag: '"2"' }).end(records(1_500)));
    const unmarked = await serve((_, response) => response.end(records(1_500)));
    for (const other of [replaced.url, unmarked.url]) {
      const file = { ...(checkpoint as object), file: other };
      expect((await collect(reportUrl, { ...contextFor({ url: other }), checkpoint: file })).items).toHaveLength(1_500);
    }
  });

  it.each([true, false])('is resumed after a broken connection, with range support: %s', async (ranges) => {
    const { url, requests } = await serve(breaking(records(20_000), () => ({ etag: '"1"' }), ranges));
    const retrying = contextFor({ url }, {}, { requestMs: 30_000 });
    expect(titles((await collect(reportUrl, retrying)).items)).toEqual(Array.from({ length: 20_000 }, (_, n) => `Weakness ${n}`));
    expect(requests).toHaveLength(2);
  });

  it('is never assembled from two versions', async () => {
    const replaced = await serve(breaking(records(20_000), (times) => ({ etag: `"${times}"` }), true));
    await expect(read({ url: replaced.url })).rejects.toMatchObject({ kind: 'incomplete', message: expect.stringContaining('replaced') });
    const unmarked = await serve(breaking(records(20_000), () => ({}), true));
    await expect(read({ url: unmarked.url })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^The response from 127\.0\.0\.1:\d+ was interrupted: .+\. The server sends neither an ETag nor a Last-Modified/),
    });
    const slow = await serve((_, response) => response.writeHead(200, { 'content-length': '100' }).write('['));
    await expect(read({ url: slow.url })).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/was interrupted: .+timeout.+ETag/) });
    const large = await serve((_, response) => response.end(sarif('x'.repeat(9_000_000))));
    await expect(read({ url: large.url, asset: 'shop' })).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringMatching(/^The server sends .+ETag/),
    });
  });

  it('is recorded even if it is not read to its end', async () => {
    const zipped = await serve((_, response) => response.end(gzipSync(records(30_000))));
    for (const url of [(await serve(whole(records(30_000)))).url, (await serve(whole(records(1)))).url, zipped.url]) {
      for (const config of [{ url }, { url, format: 'generic' }]) {
        const context = contextFor(config);
        await reportUrl.check(context);
        expect(context.records).toMatchObject([{ method: 'GET', url, status: 200, error: null }]);
      }
    }
  });

  it('is fetched again for a format that reads it several times only if it is large', async () => {
    const text = records(10, 'x'.repeat(1_000_000));
    const { url, requests } = await serve(whole(text));
    expect((await read({ url })).items).toHaveLength(10);
    expect(requests).toHaveLength(1);
    const large = await serve(whole(sarif('x'.repeat(9_000_000))));
    expect((await read({ url: large.url, asset: 'shop' })).items).toHaveLength(1);
    expect(large.requests.length).toBeGreaterThan(1);
  });

  it('may be compressed', async () => {
    const { url } = await serve((_, response) => response.end(gzipSync(records(30))));
    expect((await read({ url })).items).toHaveLength(30);
    const cut = await serve((_, response) => response.end(gzipSync(records(30)).subarray(0, 100)));
    await expect(read({ url: cut.url })).rejects.toMatchObject({ kind: 'invalid_answer', message: expect.stringContaining('damaged') });
  });

  it('is named without its query when it is not a report', async () => {
    const { url } = await serve(whole('{"nothing": "known"}'));
    const failed = { kind: 'invalid_answer', message: expect.stringMatching(/^http:\S+latest\.json is not a report/) };
    await expect(read({ url: `${url}?sig=secret` })).rejects.toMatchObject(failed);
    await expect(reportUrl.check(contextFor({ url }))).rejects.toMatchObject(failed);
    await expect(read({ url, format: 'trivy' })).rejects.toMatchObject({ kind: 'invalid_answer', message: expect.stringContaining('SchemaVersion') });
    const cut = await serve(whole(records(30).slice(0, 500)));
    await expect(read({ url: cut.url })).rejects.toMatchObject({ kind: 'invalid_answer', message: expect.stringContaining('not complete') });
  });
});

describe('a report', () => {
  it('states the version and the time of its run for the assets that it names', async () => {
    const run = { tool: { driver: { name: 'checker', version: '1.2.3' } }, invocations: [{ executionSuccessful: true, startTimeUtc: '2026-11-14T08:00:00Z' }] };
    const { url } = await serve(whole(JSON.stringify({ version: '2.1.0', runs: [{ ...run, results: [] }] })));
    const { scans } = await read({ url, asset: 'shop' });
    const asset = { type: 'repository', name: 'shop' };
    expect(scans).toEqual([{ asset, tool_version: '1.2.3', started_at: new Date('2026-11-14T08:00:00Z'), left_out: ['suppressed'] }]);
  });

  const sarif = (successful: boolean) =>
    JSON.stringify({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'checker' } },
          invocations: [{ executionSuccessful: successful }],
          results: [
            { ruleId: 'r1', message: { text: 'Weak' }, locations: [{ physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 1 } } }] },
          ],
        },
      ],
    });

  it('uses the configured asset if it names none, and is rejected without one', async () => {
    const { url } = await serve(whole(sarif(true)));
    const run = await read({ url, asset: 'shop' });
    expect(run).toMatchObject({ coverage: 'complete', covers: ['repository shop'], items: [{ observation: { asset: { type: 'repository', name: 'shop' } } }] });
    expect((await read({ url })).items).toMatchObject([{ rejection: { reason: expect.stringContaining('Set the asset') } }]);
  });

  it('is not complete if it is partial or its run did not finish', async () => {
    const { url } = await serve(whole(sarif(true)));
    expect(await read({ url, asset: 'shop', coverage: 'partial' })).toMatchObject({ coverage: 'changes' });
    const broken = await serve(whole(sarif(false)));
    const run = await read({ url: broken.url, asset: 'shop' });
    expect(run).toMatchObject({ coverage: 'changes' });
    expect(await collect(reportUrl, { ...contextFor({ url: broken.url, asset: 'shop' }), checkpoint: run.checkpoints.at(-1) ?? null })).toMatchObject({
      coverage: 'changes',
    });
  });
});

describe('a bucket', () => {
  async function store(fault?: Parameters<typeof serveFake>[2]) {
    const fake = await serveFake(reportUrlFake, { pageSize: 100 }, fault);
    closing.push(() => fake.close());
    const { config, credentials } = reportUrlFake.settings(fake.origin);
    return { fake, config: config as Values, credentials: credentials as Values };
  }

  it('returns exactly the objects with the prefix, whatever their names', async () => {
    const { fake, config, credentials } = await store();
    const run = await read(config, credentials);
    expect(run.items).toHaveLength(27);
    const paths = fake.requests.map(({ url }) => decodeURIComponent(url.pathname));
    expect(paths).toEqual(['/scans', ...Array.from({ length: 9 }, (_, n) => `/scans/nightly/part ${n} (+ü).json`)]);
  });

  it('resumes objects that are shorter than their size', async () => {
    const { fake, config, credentials } = await store({ kind: 'truncated', at: 4, for: 1 });
    expect((await read(config, credentials)).items).toHaveLength(27);
    expect(fake.requests.filter(({ headers }) => headers.range !== undefined)).toHaveLength(1);
    const always = await store({ kind: 'truncated', at: 4 });
    await expect(read(always.config, always.credentials)).rejects.toMatchObject({ kind: 'invalid_answer', message: expect.stringContaining('part 2') });
  });

  it('must not be empty, and must not be combined with a URL', async () => {
    const { config, credentials } = await store();
    for (const run of [
      () => read({ ...config, prefix: 'weakly/' }, credentials),
      () => reportUrl.check(contextFor({ ...config, prefix: 'weakly/' }, credentials)),
    ])
      await expect(run()).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('weakly/') });
    await expect(read({})).rejects.toMatchObject({ kind: 'configuration' });
    await expect(read({ ...config, url: 'http://127.0.0.1:1/x' })).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('fails if its list never ends', async () => {
    const fake = await serveFake(reportUrlFake, { pageSize: 100, endless: true });
    closing.push(() => fake.close());
    await expect(collect(reportUrl, contextOf(reportUrl, reportUrlFake.settings(fake.origin)))).rejects.toMatchObject({ kind: 'incomplete' });
  });
});
