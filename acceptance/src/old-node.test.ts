import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { checkout, program, rrs } from './service.ts';

/** An old Node installed on this machine, or else the current Node with a fake version. */
function oldNode(): [string, ...string[]] {
  for (const path of ['/usr/bin/node', '/usr/local/bin/node']) {
    try {
      const major = Number(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')[0]);
      if (major >= 20 && major < 24) return [path];
    } catch {}
  }
  const disguise = join(temporaryFolder(), 'disguise.mjs');
  writeFileSync(disguise, `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });\n`);
  return [process.execPath, '--import', disguise];
}

/** The part of the program that runs before it switches to the pinned Node. */
function copyProgram(folder: string): void {
  for (const path of ['service/bin', 'scripts/launch.mjs']) cpSync(join(checkout, path), join(folder, path), { recursive: true });
}

test('an old Node without the pinned one prints what to do in one sentence', async () => {
  const folder = temporaryFolder();
  copyProgram(folder);
  const { code, stdout, stderr } = await rrs(['start'], { command: [...oldNode(), join(folder, 'service/bin/rrs-server.mjs')] });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^rrs-server: [^\n]*Node 24[^\n]* 2[0-3]\.[\d.]+[^\n]*npm ci[^\n]*\.\n$/);
});

test('an old Node prints what to do when install scripts were disabled and the pinned Node has no program', async () => {
  const folder = temporaryFolder();
  copyProgram(folder);
  mkdirSync(join(folder, 'node_modules/node'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/node/package.json'), '{"name":"node","version":"24.0.0","bin":{"node":"bin/node"}}');
  const { code, stderr } = await rrs(['start'], { command: [...oldNode(), join(folder, 'service/bin/rrs-server.mjs')] });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^rrs-server: [^\n]*Node 24[^\n]+\.\n$/);
});

test('an old Node in the checkout runs the pinned one', async () => {
  const { code, stdout } = await rrs(['--version'], { command: [...oldNode(), program] });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});
