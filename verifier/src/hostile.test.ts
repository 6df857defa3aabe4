import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildPackage, type Recipe, zipOf } from './testing/build.ts';

/** Packages that are small on disk and large in memory. Whoever sends them can sign them, so the hashes and signatures are right. */
const HEAP_MB = 64;
const MAX_RSS_MB = 400;
const SECONDS = 20;

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

test.for<[string, Recipe, string[]]>([
  ['70 MB of empty objects as evidence.json', { evidenceText: () => `[${'{},'.repeat(23_500_000)}{}]\n` }, ['too_large']],
  ['evidence.json with too many values', { evidenceText: () => `[${'{},'.repeat(2_790_000)}{}]\n` }, ['schema']],
  [
    'a million empty events',
    {
      payload: (files) => void files.set('data/audit-trail.jsonl', Buffer.alloc(3_000_000, '{}\n')),
      evidence: ({ audit_trail }) => void Object.assign(audit_trail, { events: 1_000_000 }),
    },
    ['audit_trail'],
  ],
  ['one endless line as the audit trail', { payload: (files) => void files.set('data/audit-trail.jsonl', Buffer.alloc(66_000_000, '[')) }, ['audit_trail']],
])('refuses in seconds and with little memory: %s', { timeout: 120_000 }, async ([, recipe, codes]) => {
  const result = await verifyWithLittleMemory(recipe);
  expect(result).toMatchObject({ code: 1, codes });
  expect(result.failures).toBeLessThanOrEqual(100);
  expect(result.rss).toBeLessThan(MAX_RSS_MB);
});
