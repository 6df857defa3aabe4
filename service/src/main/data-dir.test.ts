import { watch } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockDataDir, lockHolder } from './data-dir.ts';

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'rrs-data-dir-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('whoever holds the lock is named, and nobody else gets it', async () => {
  const dir = await newDir();
  const lock = lockDataDir(dir, 'service');
  expect(lockDataDir(dir, 'command')).toBeNull();
  expect(lockHolder(dir)).toEqual({ pid: String(process.pid), kind: 'service' });
  lock?.release();
  expect(lockDataDir(dir, 'command')).not.toBeNull();
  expect(lockHolder(dir)).toEqual({ pid: String(process.pid), kind: 'command' });
});

test('a holder that has not written its name yet is unknown', async () => {
  expect(lockHolder(await newDir())).toEqual({ pid: 'unknown', kind: 'unknown' });
});

test('the file that names the holder appears complete, because a starting service may read it at any time', async () => {
  const dir = await newDir();
  const events: string[] = [];
  const watcher = watch(dir, (event, name) => events.push(`${event} ${name}`));
  onTestFinished(() => watcher.close());
  lockDataDir(dir, 'service');
  await expect.poll(() => events).toContain('rename service.pid');
  expect(events).not.toContain('change service.pid');
  expect(await readFile(join(dir, 'service.pid'), 'utf8')).toBe(`${process.pid} service\n`);
});
