import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout, rrs, startUsed } from './service.ts';

const read = (path: string): string => readFileSync(join(checkout, path), 'utf8');
const operations = read('docs/operations.md');

/** Every name in backticks in the first column of a table. */
function firstColumn(section: string): string[] {
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

function sectionOf(heading: string): string {
  const [, rest = ''] = operations.split(`\n## ${heading}\n`);
  return rest.split('\n## ')[0] ?? '';
}

test('the first steps in the README work', async ({ skip }) => {
  skip(spawnSync('sh', ['-c', 'command -v curl && command -v jq']).status !== 0, 'not on this machine: curl or jq');
  const service = await startUsed();
  const [, steps = ''] = /## First steps\n+```sh\n(.+?)```/s.exec(read('README.md')) ?? [];
  const script = steps
    .replace('http://127.0.0.1:8080', service.url)
    .replace('npx rrs-verify', `'${process.execPath}' '${join(checkout, 'verifier/bin/rrs-verify.mjs')}'`)
    .replaceAll('curl -s ', 'curl -s --fail-with-body ');
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', `set -euo pipefail\n${script}`], {
    cwd: dirname(service.dataDir),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('"role":"owner"');
  expect(stdout).toContain('"title":"Outdated OpenSSL"');
  expect(await service.stop()).toBe(0);
});

test('docs/operations.md lists every setting', async () => {
  const { stdout } = await rrs(['config']);
  const settings = stdout
    .split('\n')
    .slice(1)
    .map((line) => /^[A-Z0-9_]+/.exec(line)?.[0])
    .filter((name) => name !== undefined);
  expect(firstColumn(sectionOf('Settings')).sort()).toEqual(settings.sort());
});

test('docs/operations.md lists every command', async () => {
  const { stdout } = await rrs(['help']);
  const commands = [...stdout.matchAll(/^ {2}rrs-server ([a-z]+(?: \| [a-z]+)*(?: (?:create|list|add|remove|revoke|rotate|verify)\b)?)/gm)];
  const listed = firstColumn(sectionOf('Command line')).map((command) => command.replace(/ [<[].*$/, ''));
  expect(listed.filter((command) => command !== 'help' && command !== '--version').sort()).toEqual(
    commands.flatMap(([, command = '']) => command.split(' | ')).sort(),
  );
});
