import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { knowledgeChange } from '../handlers.ts';
import { rankingChange } from '../triage/apply-ranking.ts';

const service = useImportsWithApi();
const { send, engine } = service;
type Observed = Parameters<typeof seen>[0];

let count = 0;
let cve: string;
beforeEach(async () => {
  cve = `CVE-2026-${40_000 + ++count}`;
  await rank(null);
});

const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const scan = (source: NonNullable<ImportOptions['source']>, given: Observed, day = 1) =>
  service.run([seen({ vulnerability_ids: [cve], ...given })], { source, scope: { started_at: at(day) } });
async function rank(source_ranking: string[] | null): Promise<void> {
  expect(await send('PATCH', '/organization', { policy: { source_ranking } })).toMatchObject({ status: 200 });
  await rankingChange(engine.follower).run({ org_id: service.api().ours.id }, context());
}
const context = () => ({ db: engine.db(), log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false });
const shown = () => service.finding<{ severity: string; severity_disputed: boolean; due_at: string }>(cve);
const days = async () => (Date.parse((await shown()).due_at) - Date.parse(at(1))) / 86_400_000;

describe('the severity of several sources', () => {
  it('is the highest without a ranking', async () => {
    await scan('tool_a', { severity: 'low' });
    await scan('tool_b', { severity: 'critical' });
    expect(await shown()).toMatchObject({ severity: 'critical', severity_disputed: true });
  });

  it.each([
    [
      'a distribution beats what another tool took from the NVD',
      { severity: 'low', severity_source: 'debian' },
      { severity: 'critical', severity_source: 'nvd' },
      'low',
    ],
    ['a distribution does not beat a rating of the tool itself', { severity: 'low', severity_source: 'debian' }, { severity: 'critical' }, 'critical'],
    [
      'a distribution that knows no severity beats nothing',
      { severity: 'unknown', severity_source: 'debian' },
      { severity: 'high', severity_source: 'nvd' },
      'high',
    ],
    ['of two distributions the higher counts', { severity: 'low', severity_source: 'debian' }, { severity: 'high', severity_source: 'redhat' }, 'high'],
    ['without a distribution the NVD counts', { severity: 'low', severity_source: 'ghsa' }, { severity: 'high', severity_source: 'nvd' }, 'high'],
  ] as const)('%s, in every order', async (_, one, other, expected) => {
    await scan('tool_a', one);
    await scan('tool_b', other);
    expect(await shown()).toMatchObject({ severity: expected });
    cve = `${cve}0`;
    await scan('tool_b', other);
    await scan('tool_a', one);
    expect(await shown()).toMatchObject({ severity: expected });
  });

  it('is that of the first ranked source that still sees the finding and knows one', async () => {
    await rank(['Tool_C', 'tool_b']);
    await scan('tool_a', { severity: 'critical' });
    await scan('tool_b', { severity: 'medium' });
    expect(await shown()).toMatchObject({ severity: 'medium', severity_disputed: true });
    await scan('tool_c', { severity: 'unknown' });
    expect(await shown()).toMatchObject({ severity: 'medium' });
    await scan('tool_c', { severity: 'low' }, 2);
    expect(await shown()).toMatchObject({ severity: 'low' });
    // Milder opinions never gave more time.
    expect(await days()).toBe(15);
  });

  it('follows a changed ranking, with its deadline and history, and only where it is another one', async () => {
    await scan('tool_a', { severity: 'critical' });
    await scan('tool_b', { severity: 'low' });
    const other = cve;
    cve = `${cve}0`;
    await scan('tool_a', { severity: 'low' });
    await scan('tool_b', { severity: 'low' });
    const before = await shown();
    await rank(['tool_b']);
    expect(await shown()).toEqual(before);
    cve = other;
    expect(await shown()).toMatchObject({ severity: 'low', severity_disputed: true });
    expect(await days()).toBe(180);
    await rank(null);
    expect(await shown()).toMatchObject({ severity: 'critical' });
    expect(await days()).toBe(15);
  });

  it('that a person overrode stays, and the source is shown with its rater', async () => {
    await scan('tool_a', { severity: 'critical', severity_source: 'nvd' });
    await scan('tool_b', { severity: 'low' });
    const { id } = await shown();
    await send('PATCH', `/findings/${id}`, { severity: 'medium', reason: 'internal' });
    await rank(['tool_b']);
    expect(await shown()).toMatchObject({
      severity: 'medium',
      sightings: [
        { severity: 'critical', reported: { severity_source: 'nvd' } },
        { severity: 'low', reported: { severity_source: null } },
      ],
    });
  });
});

describe('known exploitation', () => {
  it('that a report states is kept when enrichment does not know it', async () => {
    await scan('tool_a', { severity: 'low', known_exploited: true });
    await engine.admin().query('insert into vulnerabilities (id, epss) values ($1, 0.5)', [cve]);
    await knowledgeChange(engine.follower).run({ org_id: service.api().ours.id }, context());
    const exploited = { kev: { listed: true }, epss: { score: 0.5 } };
    expect(await shown()).toMatchObject(exploited);
    await scan('tool_b', { severity: 'low' });
    expect(await shown()).toMatchObject(exploited);
    // Only another statement of the source takes it back.
    await scan('tool_a', { severity: 'low' }, 2);
    expect(await shown()).toMatchObject({ kev: { listed: false } });
  });
});
