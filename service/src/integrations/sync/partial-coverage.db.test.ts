import type { Json } from '@rrs/connectors';
import { type FakeVendor, type GithubState, githubWith } from '@rrs/connectors/fakes';
import { expect, it } from 'vitest';
import { useSyncs } from '../../testing/integrations/syncs.ts';

const syncs = useSyncs();

it('closes missing findings only on fully covered assets, and findings that the vendor marks as fixed everywhere', async () => {
  let state: GithubState = {};
  let change = (alerts: Record<string, Json>[]): Record<string, Json>[] => alerts;
  const vendor: FakeVendor = {
    ...githubWith(),
    answer: (options) => async (request) => {
      const given = await githubWith(state).answer(options)(request);
      return Array.isArray(given.body) ? { ...given, body: change(given.body as Record<string, Json>[]) } : given;
    },
  };
  const { origin } = await syncs.fake(vendor, { pageSize: 50 });
  const id = await syncs.connect(vendor, origin);
  await syncs.sync(id);
  const open = async (): Promise<string[]> => {
    const { status, body } = await syncs.ask<{ data: { id: string }[] }>('GET', `/findings?connection_id=${id}&status=open&limit=200`);
    expect(status, JSON.stringify(body)).toBe(200);
    const each = body.data.map(async (finding) => (await syncs.ask<{ sightings: { external_id: string }[] }>('GET', `/findings/${finding.id}`)).body.sightings);
    return (await Promise.all(each))
      .flat()
      .map(({ external_id }) => external_id.replace('https://github.com/acme/', ''))
      .sort();
  };
  const before = await open();
  expect(before.filter((alert) => alert.startsWith('shop/security/secret-scanning/')).length).toBeGreaterThan(0);

  state = { off: { shop: ['secret-scanning'] }, analyzedAt: '2026-11-15T08:00:00Z' };
  const pageOf = (alert: Record<string, Json>): string => String(alert.html_url).replace('https://github.com/acme/', '');
  const [fixed, vanishedThere, vanishedHere] = ['shop/security/dependabot/0', 'site/security/dependabot/1', 'shop/security/dependabot/6'];
  expect(before).toEqual(expect.arrayContaining([fixed, vanishedThere, vanishedHere]));
  change = (alerts) =>
    alerts
      .filter((alert) => ![vanishedThere, vanishedHere].includes(pageOf(alert)))
      .map((alert) => (pageOf(alert) === fixed ? { ...alert, state: 'fixed', updated_at: '2026-11-01T08:00:00Z' } : alert));
  expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'succeeded', counts: { closed: 2, reopened: 0 } });
  expect(await open()).toEqual(before.filter((alert) => alert !== fixed && alert !== vanishedThere));

  // Without a new analysis, nothing proves that the alert is gone.
  state = { analyzedAt: '2026-11-14T08:00:00Z' };
  expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'succeeded', counts: { closed: 0, reopened: 0 } });
  state = { analyzedAt: '2026-11-15T20:00:00Z' };
  expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'succeeded', counts: { closed: 1, reopened: 0 } });
  expect(await open()).toEqual(before.filter((alert) => ![fixed, vanishedThere, vanishedHere].includes(alert)));
});
