import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type FakeVendor, type Fault, fakes, serveFake } from '../../connectors/src/fakes.ts';
import { blocks } from './reports.ts';

/** Twenty vendors in a separate process: fast and slow ones that serve reports, and fakes of Snyk with different faults. */
const [FAST, SLOW] = [8, 4];
const FAULTS: (Fault | 'refused')[] = [{ kind: 'hang', at: 1 }, { kind: 'status', at: 2, status: 500 }, { kind: 'garbage', at: 1 }, 'refused'];
const records = Number(process.env.BENCH_RECORDS);
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;

async function* slowly(chunks: Iterable<string>): AsyncGenerator<string> {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += 1_000) {
      yield chunk.slice(at, at + 1_000);
      await delay(20);
    }
  }
}

async function respond({ url }: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, pace, number] = /^\/(fast|slow)\/(\d+)$/.exec(url ?? '') ?? [];
  if (pace !== undefined) {
    const report = blocks({ findings: records, fleet: `${pace}-${number}`, sentences: 2 });
    // The client may disconnect before the end.
    await pipeline(Readable.from(pace === 'slow' ? slowly(report) : report), response).catch(() => {});
  } else response.setHeader('content-type', 'application/json').end(JSON.stringify(url === '/connections' ? connections : {}));
}

const server = createServer(respond);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const report = (path: string) => ({ provider: 'report_url', name: path, config: { url: `${origin}/${path}`, format: 'generic' } });
const broken = FAULTS.flatMap((fault) => [1, 2].map((number) => ({ fault, number }))).map(async ({ fault, number }) => {
  const { origin: at } = await serveFake(snyk, { pageSize: 10 }, fault === 'refused' ? undefined : fault);
  const settings = fault === 'refused' ? snyk.refused?.(at) : snyk.settings(at);
  return { provider: snyk.id, name: `${fault === 'refused' ? fault : fault.kind} ${number}`, ...settings };
});
const connections = [
  ...Array.from({ length: FAST }, (_, n) => report(`fast/${n}`)),
  ...Array.from({ length: SLOW }, (_, n) => report(`slow/${n}`)),
  ...(await Promise.all(broken)),
];
process.stdout.write(`${origin}\n`);
