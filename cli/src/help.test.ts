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

it('commands that need the service say how to sign in', async () => {
  expect(await printed('whoami')).toEqual({ code: 2, out: '', err: 'rrs: Not signed in. Run "rrs login", or set RRS_URL and RRS_API_KEY.\n' });
});
