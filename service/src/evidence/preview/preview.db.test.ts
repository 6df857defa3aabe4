import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages();
const preview = (id: string, more: object = {}, as = world.api().ours.owner) =>
  world.api().call('POST', '/api/v1/riskops-evidence/packages', { as, body: { work_item_id: id, dry_run: true, ...more } });
interface Stated extends Pick<PackageBody, 'conclusion' | 'completeness'> {
  counts: object;
}
const stated = ({ conclusion, completeness, counts }: Stated) => ({ conclusion, completeness, counts });
const written = async () => {
  const { rows } = await world.api().db.withSystem((tx) =>
    sql<{ n: string }>`select (select count(*) from evidence_packages) || ' ' || (select count(*) from log_leaves) || ' ' || (select count(*) from audit_events)
      || ' ' || (select count(*) from events) || ' ' || (select count(*) from package_artifacts) || ' ' || (select count(*) from graphile_worker.jobs) as n`.execute(
      tx,
    ),
  );
  return rows[0]?.n;
};

/** A package that was superseded is recorded in the log by a job. */
const waitingJobs = async () =>
  (
    await world
      .api()
      .db.withSystem((tx) => sql<{ n: number }>`select count(*)::int as n from graphile_worker.jobs where task_identifier = 'log_superseded'`.execute(tx))
  ).rows[0]?.n;

describe('a preview', () => {
  it('states what the package sealed right afterwards states, before and after the first package', async () => {
    await world.scan('preview:1', ['openssl', 'curl']);
    const { id } = await world.workItem('Update', { asset: 'preview:1' });
    await world.post(`/riskops-evidence/work-items/${id}/artifacts`, { type: 'pull_request', title: 'Fix', url: 'https://git.example.com/1' });
    for (const components of [['curl'], []]) {
      await world.scan('preview:1', components);
      const { status, body } = await preview(id);
      expect(status).toBe(200);
      const sealed = await world.seal(id);
      expect(sealed.status).toBe('ready');
      expect(stated(body as Stated)).toEqual(stated(sealed as PackageBody & Stated));
      expect((body as Stated).completeness.gaps[0]).toMatchObject({ code: expect.any(String), what: expect.stringMatching(/\.$/) });
    }
  });

  it('writes nothing', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Untouched' });
    await expect.poll(waitingJobs).toBe(0);
    const before = await written();
    expect(await preview(id, { formats: ['pdf'], note: 'for me' })).toMatchObject({
      status: 200,
      body: { conclusion: 'not_remediated', counts: { findings: 0 } },
    });
    expect(await written()).toBe(before);
  });

  it('requires the permission to generate packages, and a work item of the organization', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Ours' });
    expect((await preview(id, {}, await world.api().ours.key('auditor'))).status).toBe(403);
    expect((await preview(id, {}, world.api().theirs.owner)).status).toBe(404);
  });
});
