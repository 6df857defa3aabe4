import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Tools that print absolute paths, in builds of Jenkins that use another folder while the first one is in use. */
const engine = useImports();

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();
const asset = { type: 'repository', name: 'https://git.example.com/shop' } as const;

/** A report of a day on weaknesses of these lines in one file. */
type Report = (root: string, day: number, lines: readonly number[]) => unknown;

const bandit: Report = (root, day, lines) => ({
  errors: [],
  generated_at: at(day),
  metrics: { _totals: { loc: 10 }, [`${root}/app/a.py`]: { loc: 10 } },
  results: lines.map((line) => ({
    code: `${line} eval(x${line})\n`,
    filename: `${root}/app/a.py`,
    issue_severity: 'MEDIUM',
    issue_text: 'Use of eval',
    line_number: line,
    test_id: `B${line}`,
    test_name: 'eval',
  })),
});
const hadolint: Report = (root, _, lines) =>
  lines.map((line) => ({ line, code: `DL${line}`, message: 'Pin', column: 1, file: `${root}/app/Dockerfile`, level: 'warning' }));

it.each([
  ['bandit', bandit],
  ['hadolint', hadolint],
])('%s: a finding is the same in another folder of the job, and can be fixed there', async (format, report) => {
  const org = await engine.organization();
  const send = (folder: string, day: number, lines: readonly number[]) => {
    const bytes = Buffer.from(JSON.stringify(report(`/var/jenkins/workspace/${folder}`, day, lines)));
    return engine.runFile(org, { format, name: 'report.json', bytes }, { coverage: 'complete', asset, started_at: at(day) });
  };
  const statuses = async () => (await engine.findings(org)).map(({ status }) => status).sort();
  await send('shop', 1, [3, 9]);
  await send('shop@2', 3, [3, 9]);
  expect(await statuses()).toEqual(['open', 'open']);
  await send('shop@2', 5, [3]);
  expect(await statuses()).toEqual(['open', 'verified']);
  await send('shop', 7, [3]);
  expect(await statuses()).toEqual(['open', 'verified']);
});
