import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { watchRecovery } from './watch-recovery.ts';

/** A process with a child that has the name of the process that recovers a server, and does nothing. */
async function startStalled() {
  const server = spawn('bash', ['-c', 'exec -a "postgres: startup recovering" sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const child = Number(String((await once(server.stdout, 'data'))[0]));
  onTestFinished(() => {
    if (!hasEnded(child)) process.kill(child, 'SIGKILL');
    server.kill('SIGKILL');
  });
  return { server, child };
}

/** A process whose parent has ended may stay as a zombie. */
function hasEnded(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
}

const LIMITS = { everyMs: 10, stalledMs: 50 };

it.runIf(process.platform === 'linux')('ends a server that does not recover, with its processes', async () => {
  const { server, child } = await startStalled();
  const lines: string[] = [];
  const isStopping = (): boolean => lines.length > 0;
  await watchRecovery({ pid: () => server.pid, isRefusing: async () => true, isStopping, log: (line) => lines.push(line) }, LIMITS);
  expect(lines).toEqual(['PostgreSQL does not recover from a crash. Ending it.']);
  await expect.poll(() => [server.signalCode, hasEnded(child)]).toEqual(['SIGKILL', true]);
});

it.each([
  ['recovers', true, (n: number) => `computed ${n}`],
  ['waits for its disk', true, () => null],
  ['answers', false, () => 'computed nothing'],
])('leaves a server alone that %s', async (_, isRefusing, progressAfter) => {
  const { server } = await startStalled();
  let asked = 0;
  const progress = (): string | null => progressAfter(asked);
  const ask = async (): Promise<boolean> => {
    asked++;
    return isRefusing;
  };
  await watchRecovery({ pid: () => server.pid, isRefusing: ask, isStopping: () => asked > 20, log: expect.unreachable, progress }, LIMITS);
  expect(server.signalCode).toBeNull();
});
