import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commands } from './commands.ts';
import { printed } from './testing/printed.ts';

it.each(Object.keys(commands))('%s has help with examples that use it', async (name) => {
  const { code, out } = await printed(...name.split(' '), '--help');
  expect(code).toBe(0);
  expect(out).toMatch(/^Usage: rrs .+\n\n.+\.\n/);
  const examples = out
    .slice(out.indexOf('\nExamples:\n'))
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('  '));
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(example).toContain(`rrs ${name}`);
  expect(await printed('help', ...name.split(' '))).toMatchObject({ out });
});

it('a group of commands has help, too', async () => {
  const { code, out } = await printed('findings', '--help');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^Commands:\n {2}findings list +List .+\n {2}findings show .+\n {2}findings triage .+\n {2}findings export .+\n\nRun "rrs <command> --help"/,
  );
  expect(await printed('help', 'findings')).toMatchObject({ code, out });
  expect(await printed('findings', 'lst', '--help')).toMatchObject({ code: 2, out: '' });
});

it('help fits on the terminal', async () => {
  const { out } = await printed('findings', 'triage', '--help');
  const options = out.slice(out.indexOf('\nOptions:'), out.indexOf('\nExamples:')).split('\n');
  expect(options.filter((line) => line.length > 80 && !line.startsWith('Filters'))).toEqual([]);
  expect(out).toMatch(/\n {2}--justification NAME +Why a false positive is one: code_not_present,\n {31}\S/);
});

it.each([
  [['assets', 'show', 'a', 'b'], 'Unexpected argument "b". Name one asset by its id or name. "rrs assets list" shows them.'],
  [
    ['findings', 'list', '--sort', '-due_at'],
    '--sort needs a value. If the value begins with "-", write --sort=VALUE. Run "rrs findings list --help" for its options.',
  ],
  [['import', '--format'], '--format needs a value. If the value begins with "-", write --format=VALUE. Run "rrs import --help" for its options.'],
  [['work', 'create', '--title', 'x', '--due', 'soon'], '--due must be a day or a time, such as 2027-03-31 or 2027-03-31T12:00:00Z, not "soon".'],
  [
    ['evidence', 'verify', 'evidence.zip', '--deep'],
    '--deep reads the original scan reports of a package again, and only the service has the readers. Run "rrs-server evidence verify" with the same arguments.',
  ],
])('%j is a mistake that is explained', async (args, message) => {
  const env = { RRS_URL: 'http://127.0.0.1:9', RRS_API_KEY: 'key' };
  expect(await printed(...args, env)).toEqual({ code: 2, out: '', err: `rrs: ${message}\n` });
});

it('commands that need the service say how to sign in', async () => {
  expect(await printed('whoami')).toEqual({ code: 2, out: '', err: 'rrs: Not signed in. Run "rrs login", or set RRS_URL and RRS_API_KEY.\n' });
});

it('prints its version', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await printed('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

/** Prints the file of each module that is loaded. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) process.stderr.write(url + '\\n'); return next(url, context); } });`;

function loadedBy(...args: string[]): string[] {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const program = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const command = `"${process.execPath}" --import "${program}" cli/bin/rrs.mjs ${args.join(' ')} 2>&1 >/dev/null`;
  const printedModules = execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' });
  return printedModules
    .trim()
    .split('\n')
    .map((url) => url.replace(/^.*\/(?=(?:cli|client|verifier|scripts)\/)/, ''));
}

// The time to start depends on the machine. What is loaded decides about it.
it('loads only what the overview needs, and one command for its help', () => {
  const overview = ['cli/bin/rrs.mjs', 'scripts/launch.mjs', 'cli/src/bin/rrs.ts', 'cli/src/main.ts', 'cli/src/command.ts', 'cli/src/commands.ts'];
  expect(loadedBy('--help').sort()).toEqual([...overview, 'cli/src/help.ts', 'cli/src/terminal.ts'].sort());
  const list = loadedBy('findings', 'list', '--help');
  expect(list.filter((path) => path.includes('/commands/'))).toEqual(['cli/src/commands/findings.ts']);
  expect(list.filter((path) => !path.startsWith('cli/'))).toEqual(['scripts/launch.mjs']);
});
