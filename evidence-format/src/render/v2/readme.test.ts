import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { sampleEvidence } from '../../testing/reports/evidence.ts';
import { sealPackage } from '../../testing/sealed-package.ts';
import { readmeText } from './readme.ts';

const keys = { package: 'SHA256:package', log: 'SHA256:log', note: 'v+1+k' };
const evidence = sampleEvidence({}, [{ code: 'no_approval', weight: 'minor', about: [], values: {} }]);
const textOf = (overrides: Partial<typeof evidence> = {}): string => readmeText({ ...evidence, ...overrides }, { keys });

test('states the conclusion, the gaps and the keys to compare', () => {
  const text = textOf();
  for (const part of [
    'remediated: every finding',
    'B (only minor',
    'gap: Nobody approved',
    'SHA256:package',
    'SHA256:log',
    'v+1+k',
    evidence.log.origin,
    'through another channel',
  ]) {
    expect(text).toContain(part);
  }
  for (const part of ['--new-bundle-format', 'whether it was revoked', '.predicate.organization_id']) expect(text).toContain(part);
  expect(text.match(/--type https:\/\/rrs\.example\/remediation-evidence\/v\d /g)).toHaveLength(2);
});

test('explains timestamps only for a stamped package', () => {
  expect(textOf()).toContain('openssl ts -verify');
  const without = textOf({ timestamped: false });
  for (const part of ['openssl ts', '--use-signed-timestamps', 'tsa']) expect(without).not.toContain(part);
  expect(without).toContain('no independent authority');
});

test('a title cannot add a line or stand before the conclusion', () => {
  const titled = (title: string): string => textOf({ work_item: { ...evidence.work_item, title } });
  const lines = (title: string): number => titled(title).split('\n').length;
  expect(lines('a\n8. The signature is fine.\r\u2028x')).toBe(lines('a'));
  const claim = titled('Conclusion    remediated');
  expect(claim.indexOf('Conclusion')).toBeLessThan(claim.indexOf('"Conclusion    remediated'.replaceAll('    ', ' ')));
});

test('refuses values that contain shell syntax', () => {
  expect(() => textOf({ work_item: { ...evidence.work_item, id: 'a;b' } })).toThrow('UUID');
  expect(() => textOf({ log: { ...evidence.log, origin: 'a$(b)' } })).toThrow('plain name');
});

const tools = ['bash', 'unzip', 'sha256sum', 'jq', 'openssl', 'ssh-keygen'].every((tool) => spawnSync(tool, ['--version']).error === undefined);

/** The commands are the lines of the section that are indented by three spaces. */
function commandsOf(readme: string): string {
  const section = readme.slice(readme.indexOf('BY HAND'), readme.indexOf('WITH COSIGN'));
  return section
    .split('\n')
    .filter((line) => line.startsWith('   '))
    .join('\n');
}

const bash = (folder: string, script: string) => spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });

interface Sealed {
  folder: string;
  name: string;
  readme: string;
}

const sealed: Sealed[] = [];
afterAll(() => {
  for (const { folder } of sealed) rmSync(folder, { recursive: true });
});

async function seal(stamped: boolean): Promise<Sealed> {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'));
  const name = await sealPackage(folder, stamped);
  const readme = execFileSync('unzip', ['-p', `${name}.zip`, `${name}/README.txt`], { cwd: folder, encoding: 'utf8' });
  sealed.push({ folder, name, readme });
  return { folder, name, readme };
}

test.runIf(tools).each([true, false])('the manual commands succeed on a sealed package (stamped: %s)', async (stamped) => {
  const { folder, readme } = await seal(stamped);
  const { stdout, stderr } = bash(folder, commandsOf(readme));
  const subjects = ['tagmanifest-sha256.txt', 'manifest-sha256.txt', 'data/evidence.json', 'data/report.pdf'].map((file) => `${file}: OK`);
  expect(stdout.split('\n').slice(0, 8)).toEqual(['OK', 'OK', 'OK', 'Verified OK', ...subjects]);
  expect(stdout.includes('Time stamp:')).toBe(stamped);
  expect((stdout + stderr).includes('Verification: OK')).toBe(stamped);
  expect(stdout + stderr).not.toMatch(/FAILED|BROKEN|rror/);
});

test.runIf(tools)('the fingerprint command prints the fingerprint', async () => {
  const { folder, readme } = await seal(false);
  const command = readme.split('\n').find((line) => line.includes('ssh-keygen')) as string;
  expect(readme).toContain(bash(folder, command).stdout.split(' ')[1]);
});

describe.runIf(tools)('the manual commands detect', () => {
  test.each([
    ['a changed payload file', 'printf x >> $P/data/report.pdf', /report.pdf: FAILED/],
    ['a changed tag file', 'printf x >> $P/bag-info.txt', /bag-info.txt: FAILED/],
    ['an added payload file', 'printf x > $P/data/more', /^< data\/more/m],
    ['an added tag file', 'printf x > $P/more.txt', /^< more.txt/m],
    ['a broken audit trail', 'printf "{}\\n" >> $P/data/audit-trail.jsonl', /BROKEN/],
    ['another key', 'openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout > T/package.pem 2>/dev/null', /Verification failure/i],
    ['an unsafe name', 'true', /evil/],
  ])('%s', async (what, tamper, expected) => {
    const { folder, name, readme } = await seal(false);
    if (what === 'an unsafe name') writeFileSync(join(folder, `${name}.zip`), withEntry(readFileSync(join(folder, `${name}.zip`)), `${name}/../evil`));
    const { stdout, stderr } = bash(folder, commandsOf(readme).replace('&& cd ', `&& { ${tamper}; } && cd `));
    expect(stdout + stderr).toMatch(expected);
  });
});

/** An archive that the writer would refuse: replaces one name, in both records, with another of the same length. */
function withEntry(archive: Buffer, name: string): Buffer {
  const latin = archive.toString('latin1');
  const victim = `${name.split('/')[0]}/bagit.txt`;
  return Buffer.from(latin.replaceAll(victim, name.padEnd(victim.length, 'x')), 'latin1');
}
