import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LIMITS } from './limits.ts';
import { buildPackage, type Recipe, zipOf } from './testing/build.ts';
import { IDS } from './testing/sample.ts';

/** Packages that are small on disk and large in memory. Whoever sends them can sign them, so the hashes and signatures are right. */
const HEAP_MB = 64;
const MAX_RSS_MB = 400;
const SECONDS = 20;

const FINDINGS = 'data/findings.jsonl';
const TRAIL = 'data/audit-trail.jsonl';
const STATE = `data/approvals/${IDS.approval}.jsonl`;
const deep = () => Buffer.from(`${'['.repeat(LIMITS.findingLine)}\n`);

const folder = mkdtempSync(join(tmpdir(), 'rrs-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PROGRAM = `
const { main } = await import(${JSON.stringify(new URL('./cli/cli.ts', import.meta.url).href)});
let out = '';
const code = await main([process.argv[1], '--json'], { out: (text) => { out += text; }, err: (text) => { out += text; }, color: false });
const { failures } = JSON.parse(out);
console.log(JSON.stringify({ code, codes: [...new Set(failures.map(({ code }) => code))].sort(), failures: failures.length, rss: process.resourceUsage().maxRSS / 1024 }));
`;

async function verifyWithLittleMemory(recipe: Recipe): Promise<{ code: number; codes: string[]; failures: number; rss: number }> {
  const path = join(folder, 'package.zip');
  writeFileSync(path, await zipOf(await buildPackage(recipe)));
  return new Promise((resolve, reject) => {
    const args = [`--max-old-space-size=${HEAP_MB}`, '--input-type=module', '-e', PROGRAM, path];
    execFile(process.execPath, args, { timeout: SECONDS * 1000 }, (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout))));
  });
}

const MIB = 1 << 20;

test.for<[string, Recipe, string[]]>([
  ['18 MB of empty objects as evidence.json', { evidenceText: () => `[${'{},'.repeat(6_000_000)}{}]\n` }, ['too_large']],
  ['evidence.json with too many values', { evidenceText: () => `[${'{},'.repeat(2_700_000)}{}]\n` }, ['schema']],
  ['a million empty findings', { payload: (files) => void files.set(FINDINGS, Buffer.alloc(3_000_000, '{}\n')) }, ['schema']],
  ['one endless finding', { payload: (files) => void files.set(FINDINGS, Buffer.alloc(16 * MIB, '[')) }, ['schema']],
  ['a finding that is as long as allowed and nested', { payload: (files) => void files.set(FINDINGS, deep()) }, ['schema']],
  [
    'a million empty events',
    {
      payload: (files) => void files.set(TRAIL, Buffer.alloc(3_000_000, '{}\n')),
      evidence: ({ audit_trail }) => void Object.assign(audit_trail, { events: 1_000_000 }),
    },
    ['audit_trail'],
  ],
  ['one endless line as the audit trail', { payload: (files) => void files.set(TRAIL, Buffer.alloc(16_000_000, '[')) }, ['audit_trail']],
  ['an endless approved state', { payload: (files) => void files.set(STATE, Buffer.alloc(16 * MIB, '[')) }, ['approval_state']],
])('refuses in seconds and with little memory: %s', { timeout: 120_000 }, async ([, recipe, codes]) => {
  const result = await verifyWithLittleMemory(recipe);
  expect(result).toMatchObject({ code: 1, codes });
  expect(result.failures).toBeLessThanOrEqual(100);
  expect(result.rss).toBeLessThan(MAX_RSS_MB);
});
