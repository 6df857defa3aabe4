import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { stopServer } from './stop-server.ts';

/** A process that handles the signals like this, once it has said so. */
async function processWith(handlers: string) {
  const child = spawn(process.execPath, ['-e', `${handlers}; setInterval(() => {}, 1000); console.log('ready')`], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: () => child.signalCode,
    code: () => child.exitCode,
  };
}

it('lets a server finish its work', async () => {
  const { pid, isRunning, code } = await processWith(`process.on('SIGINT', () => process.exit(7))`);
  expect(await stopServer(pid, isRunning)).toBe(true);
  expect(code()).toBe(7);
});

it('ends a server that does not finish', async () => {
  const { pid, isRunning, signal } = await processWith(`process.on('SIGINT', () => {})`);
  expect(await stopServer(pid, isRunning, 50)).toBe(true);
  expect(signal()).toBe('SIGQUIT');
});
