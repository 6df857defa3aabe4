import type { Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { updateFinding } from '../triage/triage.ts';
import { splitByHand } from './by-hand.ts';

const engine = useImports();

const [cve, ghsa] = ['CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc'];
const npm = { component: 'lib', ecosystem: 'npm' };
const at = (source: NonNullable<ImportOptions['source']>, day: number): ImportOptions => ({ source, scope: { started_at: `2026-01-0${day}T00:00:00Z` } });

/** Two tools name one weakness and its component differently, until two tools say that the ids are one. */
const reports: [Observation, ImportOptions][] = [
  [seen({ vulnerability_ids: [ghsa], location: { component: 'lib' } }), at('tool_a', 1)],
  [seen({ vulnerability_ids: [cve], location: npm, severity: 'critical' }), at('tool_b', 2)],
  [seen({ vulnerability_ids: [cve, ghsa], location: npm }), at('tool_b', 3)],
  [seen({ vulnerability_ids: [cve, ghsa], location: npm }), at('tool_c', 4)],
];

async function importAll(order: readonly number[]): Promise<string> {
  const org = await engine.organization();
  for (const n of order) {
    const [observation, options] = reports[n] as (typeof reports)[number];
    await engine.run(org, [observation], options);
  }
  return org;
}

const liveOf = async (org: string) => (await engine.findings(org)).filter(({ sightings }) => sightings.length > 0);
const actorOf = (org: string) => systemActor(org, 'Ada');

describe('two findings that turn out to be in one component', () => {
  it.each([
    ['the one with the incomplete name first', [0, 1, 2, 3]],
    ['the one with the complete name first', [1, 0, 2, 3]],
    ['the alias first', [3, 2, 1, 0]],
  ])('are one: %s', async (_name, order) => {
    const expected = await importAll([3, 2, 0, 1]);
    const org = await importAll(order);
    expect(await liveOf(org)).toMatchObject([
      { weakness: cve, status: 'open', location: npm, sightings: [{ source: 'tool_a' }, { source: 'tool_b' }, { source: 'tool_c' }] },
    ]);
    expect(await engine.stateOf(org, { lawful: true })).toEqual(await engine.stateOf(expected, { lawful: true }));
  });

  it.each([0, 1])('are open if one of them is, whichever was decided about (%i)', async (decided) => {
    const org = await importAll([0, 1]);
    const id = (await engine.findings(org))[decided]?.id ?? '';
    const patch = { status: 'false_positive', justification: 'code_not_reachable', reason: 'only in tests' } as const;
    await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, actorOf(org), { id, patch, check: () => {} }, engine.follower));
    for (const [observation, options] of reports.slice(2)) await engine.run(org, [observation], options);
    expect(await liveOf(org)).toMatchObject([{ status: 'open' }]);
  });

  it('stay apart once a person has separated them', async () => {
    const org = await importAll([0, 1, 2, 3]);
    const { rows } = await engine.admin().query<{ id: string }>('select id from findings where org_id = $1 and merged_into is not null', [org]);
    await engine.db().withTenant({ orgId: org }, (tx) => splitByHand(tx, actorOf(org), engine.follower, { id: rows[0]?.id ?? '', reason: 'another library' }));
    await engine.run(org, [seen({ vulnerability_ids: [cve, ghsa], location: npm, title: 'again' })], at('tool_c', 5));
    expect(await liveOf(org)).toHaveLength(2);
  });
});

it('a package whose source a report names joins the finding of that source, even if that one is known by another package', async () => {
  const org = await engine.organization();
  const inPackage = (component: string, source_package?: string) =>
    seen({
      vulnerability_ids: [cve],
      location: { component, ecosystem: 'deb', version: '3.0.1', ...(source_package === undefined ? {} : { source_package }) },
    });
  await engine.run(org, [inPackage('openssl-tools')], at('tool_a', 1));
  await engine.run(org, [inPackage('libssl3', 'openssl')], at('tool_b', 2));
  expect(await engine.run(org, [inPackage('openssl-tools', 'openssl')], at('tool_c', 3))).toMatchObject({ status: 'succeeded' });
  expect(await liveOf(org)).toMatchObject([{ sightings: [{ source: 'tool_a' }, { source: 'tool_b' }, { source: 'tool_c' }] }]);
});
