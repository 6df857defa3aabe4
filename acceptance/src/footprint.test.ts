import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { servicePid } from './folders.ts';
import { call } from './http.ts';
import { checkout, printedUrl, run, start, until } from './service.ts';

const GOAL_SECONDS = 2;
const GOAL_MIB = 160;
/** The goals are for an idle machine, but other tests run at the same time. */
const SLACK_SECONDS = 3;
const SLACK_MIB = 1.25;

function residentMiB(pid: number): number {
  const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kib / 1024;
}

function report(figure: string): void {
  process.stdout.write(`${figure}\n`);
}

test('an idle service uses little memory, and a restart is fast', async () => {
  const first = await start({ command: ['npm', 'start', '--silent'], args: [], cwd: checkout, detached: true });
  const { dataDir, url, key } = first;
  for (let i = 0; i < 50; i++) await call(url, '/api/v1/me', { key });
  if (process.platform === 'linux') {
    const mib = residentMiB(servicePid(dataDir) ?? 0);
    report(`idle memory of the service process: ${mib.toFixed(0)} MiB (goal: under ${GOAL_MIB} MiB)`);
    expect(mib).toBeLessThan(GOAL_MIB * SLACK_MIB);
  }
  await first.stop();

  const started = performance.now();
  const again = run(['start'], { dataDir });
  const address = await until('the URL is printed', () => printedUrl(again.stdout()));
  expect((await call(address, '/api/v1/me', { key })).status).toBe(200);
  const seconds = (performance.now() - started) / 1000;
  report(`restart to first response: ${seconds.toFixed(2)} s (goal: under ${GOAL_SECONDS} s)`);
  expect(seconds).toBeLessThan(GOAL_SECONDS * SLACK_SECONDS);
});
