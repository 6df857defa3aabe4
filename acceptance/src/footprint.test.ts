import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { servicePid } from './folders.ts';
import { call } from './http.ts';
import { checkout, printedUrl, run, start, until } from './service.ts';

const GOAL_SECONDS = 2;
const GOAL_MIB = 160;
/** Of one processor. */
const GOAL_SHARE = 0.1;
/** The goals are for an idle machine, but other tests run at the same time. */
const SLACK_SECONDS = 3;
const SLACK_MIB = 1.25;

function residentMiB(pid: number): number {
  const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kib / 1024;
}

/** Seconds of processor time that the process has used so far. The kernel counts in hundredths. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The least of some periods: what the service does once, for example after a request, is not what it does all the time. */
async function idleShare(pid: number): Promise<number> {
  const shares: number[] = [];
  for (let n = 0; n < 3; n++) {
    const [before, from] = [processorSeconds(pid), performance.now()];
    await delay(1_000);
    shares.push((processorSeconds(pid) - before) / ((performance.now() - from) / 1_000));
  }
  return Math.min(...shares);
}

function report(figure: string): void {
  process.stdout.write(`${figure}\n`);
}

test('an idle service uses little memory and processor time, and a restart is fast', async () => {
  const first = await start({ command: ['npm', 'start', '--silent'], args: [], cwd: checkout, detached: true });
  const { dataDir, url, key } = first;
  for (let i = 0; i < 50; i++) await call(url, '/api/v1/me', { key });
  if (process.platform === 'linux') {
    const pid = servicePid(dataDir) ?? 0;
    const mib = residentMiB(pid);
    report(`idle memory of the service process: ${mib.toFixed(0)} MiB (goal: under ${GOAL_MIB} MiB)`);
    expect(mib).toBeLessThan(GOAL_MIB * SLACK_MIB);
    const share = await idleShare(pid);
    report(`idle processor time of the service process: ${(share * 100).toFixed(0)} % (goal: under ${GOAL_SHARE * 100} %)`);
    expect(share).toBeLessThan(GOAL_SHARE);
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
