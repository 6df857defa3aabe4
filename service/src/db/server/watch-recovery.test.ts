import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { watchRecovery } from './watch-recovery.ts';

const STALLED = 'exec -a "postgres: startup recovering" sleep 60';
/** Returns what it gets. */
const READING = 'exec -a "postgres: io worker 0" cat <&0';

/** A process with children that have the names of those that recover a server. The first one does nothing. */
async function startStalled(...others: string[]) {
  const commands = [STALLED, ...others].map((command) => `${command} & echo $!`);
  const server = spawn('bash', ['-c', `${commands.join('; ')}; wait`], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  const children: number[] = [];
  onTestFinished(() => {
    for (const child of children) if (!hasEnded(child)) process.kill(child, 'SIGKILL');
    server.kill('SIGKILL');
  });
  for (const _ of commands) children.push(Number(await nextLine()));
  return { server, child: children[0] ?? 0, nextLine };
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

it.runIf(process.platform === 'linux')('leaves a server alone for which another process reads from a slow disk', async () => {
  const { server, nextLine } = await startStalled(READING);
  let asked = 0;
  const ask = async (): Promise<boolean> => {
    asked++;
    server.stdin.write('some bytes\n');
    await nextLine();
    return true;
  };
  await watchRecovery({ pid: () => server.pid, isRefusing: ask, isStopping: () => asked > 20, log: expect.unreachable }, LIMITS);
  expect(server.signalCode).toBeNull();
});
