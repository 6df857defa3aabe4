import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { buildPackage, keyListOf, testKeys, zipOf } from './testing/build.ts';
import { largeRecipe } from './testing/large.ts';

const folder = mkdtempSync(join(tmpdir(), 'rrs-memory-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = fileURLToPath(new URL('./cli/run.ts', import.meta.url));
const REPORT = 'process.on("exit", () => process.stderr.write(String(process.resourceUsage().maxRSS)))';
/** Without a limit, V8 lets garbage pile up as long as the machine has memory. */
const LIMITS = ['--max-old-space-size=64', '--max-semi-space-size=4'];

/** Runs rrs-verify in a process of its own. Returns what it prints and the most memory that it had, in MB. */
async function verify(findings: number): Promise<{ text: string; mb: number }> {
  const [path, keys] = [join(folder, `${findings}.zip`), join(folder, 'keys.json')];
  writeFileSync(path, await zipOf(await buildPackage(largeRecipe(findings))));
  writeFileSync(keys, JSON.stringify(keyListOf(await testKeys())));
  const args = [...LIMITS, '--import', `data:text/javascript,${encodeURIComponent(REPORT)}`, program, path, '--keys', keys];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return { text: stdout, mb: Number(stderr) / 1024 };
}

/** The readable files are written again from all findings at once. Everything else is read in pieces: this package has 20 MB. */
test('a finding needs at most 10 KB of memory', { timeout: 120_000 }, async () => {
  const small = await verify(500);
  const large = await verify(5_000);
  expect(small.text).toContain('500 of 500 findings are verified as fixed');
  expect(large.text).toContain('5,000 of 5,000 findings are verified as fixed');
  expect(large.mb - small.mb).toBeLessThan((5_000 - 500) * 0.01);
});
