import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, keyIn, postgresPid, servicePid } from './folders.ts';
import { call } from './http.ts';
import { checkout, kill, newDataDir, type Options, type Run, run, start, until } from './service.ts';

const dataDir = newDataDir();
const npm: Options = { dataDir, cwd: checkout, command: ['npm', 'start', '--silent'], detached: true };

async function waitForExit(...pids: (number | null)[]): Promise<void> {
  for (const pid of pids) await until(`process ${pid} ends`, () => pid !== null && !isAlive(pid), 10);
}

test.for([
  ['SIGTERM', 'to npm alone', (npmRun: Run) => kill(npmRun.pid, 'SIGTERM')],
  ['SIGINT', 'to npm alone', (npmRun: Run) => kill(npmRun.pid, 'SIGINT')],
  ['SIGINT', 'to the whole group, as Ctrl-C does', (npmRun: Run) => npmRun.signal('SIGINT')],
  ['SIGHUP', 'to the whole group, as a closed terminal does', (npmRun: Run) => npmRun.signal('SIGHUP')],
] as const)('npm start: %s %s stops everything', async ([signal, , send]) => {
  const service = await start({ ...npm, args: [] });
  const pids = [servicePid(dataDir), postgresPid(dataDir)];
  onTestFinished(() => {
    for (const pid of pids) kill(pid);
  });
  expect((await call(service.url, '/readyz')).body).toMatchObject({ status: 'ok' });

  send(service);
  await until('npm ends', () => service.exited(), 30);
  const code = await service.exit;
  if (signal !== 'SIGHUP') expect(code).toBe(0);
  await waitForExit(...pids);
  expect(service.stderr()).toContain('"msg":"stopped"');
});

test('a signal during the first start stops everything', async () => {
  const early = run(['start']);
  await until('PostgreSQL starts', () => postgresPid(early.dataDir));
  const postgres = postgresPid(early.dataDir);
  early.signal('SIGTERM');
  expect(await early.exit).toBe(0);
  await waitForExit(postgres);
});

test('a request in progress gets its response, and idle connections do not delay the stop', async () => {
  const service = await start({ dataDir });
  const { hostname, port } = new URL(service.url);
  const idle = connect(Number(port), hostname);
  const key = keyIn(dataDir);
  await once(idle, 'connect');

  const body = JSON.stringify({ name: 'in flight', role: 'viewer' });
  const socket = connect(Number(port), hostname);
  const response = collect(socket);
  socket.write(
    `POST /api/v1/api-keys HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until('the service has received the request headers', () => response.text().includes('100 Continue'));
  service.signal('SIGTERM');
  await until('the service stops', () => service.stderr().includes('"msg":"stopping"'));
  await until('the service refuses new connections', async () => !(await fetch(`${service.url}/healthz`).catch(() => null)));
  const sent = Date.now();
  socket.write(body);
  await until('the response is complete', () => /HTTP\/1.1 201 Created.*"key":"rrs_/s.test(response.text()));
  expect(await service.exit).toBe(0);
  expect(Date.now() - sent).toBeLessThan(5_000);

  const id = /"id":"([^"]+)"/.exec(response.text())?.[1];
  const again = await start({ dataDir });
  expect((await call(again.url, `/api/v1/api-keys/${id}`, { key })).body).toMatchObject({ name: 'in flight' });
  await again.stop();
});

function collect(socket: Socket): { text(): string } {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { text: () => text };
}
