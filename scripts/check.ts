import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** Runs all scripts `check:…` of package.json side by side: each uses one core for most of its time. */
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { scripts: Record<string, string> };
const checks = Object.entries(scripts).filter(([name]) => name.startsWith('check:'));

const results = checks.map(async ([name, command]) => {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { name, isPassed: code === 0, output: `${stdout}${stderr}` };
});

for (const result of results) {
  const { name, isPassed, output } = await result;
  process.stdout.write(`${isPassed ? '✔' : '✘'} ${name}\n${isPassed ? '' : `${output}\n`}`);
  if (!isPassed) process.exitCode = 1;
}
