import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { describe, expect, it } from 'vitest';
import { someOf } from '../../testing/integrations/some-issues.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;

const open = async (): Promise<string[]> =>
  (await syncs.ask<{ data: { id: string }[] }>('GET', '/findings?source=snyk&status=open&limit=200')).body.data.map(({ id }) => id).sort();
const decide = (id: string, runId: string, decision: 'confirm' | 'discard') =>
  syncs.ask<{ counts: { closed: number } }>('POST', `/integrations/${id}/runs/${runId}/${decision}`);
const move = async (id: string, vendor: FakeVendor) => syncs.move(id, snyk, (await syncs.fake(vendor)).origin);

/** Connects the vendor and runs the connection once. */
async function connected(projects: string): Promise<string> {
  const { origin } = await syncs.fake(someOf(snyk, () => true, projects));
  const id = await syncs.connect(snyk, origin);
  expect(await syncs.sync(id)).toMatchObject({ status: 'succeeded' });
  return id;
}

describe('after a change of its settings, a connection', () => {
  it('needs confirmation in every run until a person confirms what the changed settings may leave out', async () => {
    const id = await connected('every-run');
    const before = await open();
    await move(
      id,
      someOf(snyk, (n) => n > 2, 'every-run'),
    );
    for (const full of [false, true, true]) {
      const withheld = await syncs.sync(id, { full });
      expect(withheld).toMatchObject({ status: 'needs_confirmation', counts: { closed: 0 }, notes: [expect.stringContaining('other settings')] });
      expect(await open()).toEqual(before);
    }
    const [waiting, ...replaced] = (await syncs.ask<{ data: { status: string }[] }>('GET', `/integrations/${id}/runs?limit=3`)).body.data;
    expect(waiting).toMatchObject({ status: 'needs_confirmation' });
    expect(replaced.map(({ status }) => status)).toEqual(['partial', 'partial']);
    const discarded = await syncs.sync(id, { full: true });
    expect((await decide(id, discarded.id, 'discard')).status).toBe(200);
    const withheld = await syncs.sync(id, { full: true });
    expect(withheld).toMatchObject({ status: 'needs_confirmation' });
    expect(await open()).toEqual(before);
    const { closed } = (await decide(id, withheld.id, 'confirm')).body.counts;
    expect(closed).toBeGreaterThan(0);
    expect(await open()).toHaveLength(before.length - closed);
    expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'succeeded', counts: { closed: 0 } });
  });

  it('needs confirmation to close findings on assets that two runs in a row no longer list', async () => {
    const id = await connected('listed-before');
    const before = await open();
    await move(
      id,
      someOf(snyk, () => true, 'listed-since'),
    );
    await syncs.sync(id);
    const withheld = await syncs.sync(id, { full: true });
    expect(withheld).toMatchObject({ status: 'needs_confirmation', counts: { closed: 0 } });
    expect(await open()).toEqual(expect.arrayContaining(before));
  });

  it('closes without confirmation what a run with the same settings has shown', async () => {
    const id = await connected('shown-since');
    let from = 0;
    await move(
      id,
      someOf(snyk, (n) => n > from, 'shown-since'),
    );
    expect(await syncs.sync(id)).toMatchObject({ status: 'succeeded', counts: { closed: 0 } });
    from = 2;
    const closing = await syncs.sync(id, { full: true });
    expect(closing).toMatchObject({ status: 'succeeded' });
    expect(closing.counts.closed).toBeGreaterThan(0);
  });
});
