import { beforeAll, describe, expect, it } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { addPersonWithKey } from '../../testing/people.ts';

const world = usePackages({ verifies: true });
const majorOf = ({ completeness }: PackageBody): string[] => completeness.gaps.filter(({ weight }) => weight === 'major').map(({ code }) => code);
const checkOf = async ({ package_id }: PackageBody) => {
  const evidence = JSON.parse((await world.download(package_id, 'json')).toString());
  return evidence.checks.find(({ id }: { id: string }) => id === 'approved_independently');
};

let [opener, worker, other] = ['', '', ''];
beforeAll(async () => {
  const add = async () => (await addPersonWithKey(world.api(), world.api().ours, 'analyst')).key;
  [opener, worker, other] = [await add(), await add(), await add()];
});

/** Somebody who does not do the work uploads the scans. */
const scan = (asset: string, packages: string[]) => world.scan(asset, packages, { as: opener });

async function item(asset: string, packages = ['openssl']) {
  await scan(asset, packages);
  return world.workItem(`Update ${asset}`, { asset }, opener);
}
const { decide } = world;
const patch = (path: string, body: object, as: string) => world.api().call('PATCH', `/api/v1${path}`, { as, body });

describe('a package discloses', () => {
  it('an approver who did the work afterwards', async () => {
    const { id } = await item('first:1');
    expect(await decide(id, worker, 'approved')).toMatchObject({ independent: true });
    await patch(`/work-items/${id}`, { status: 'awaiting_verification', reason: 'I did it myself' }, worker);
    await scan('first:1', []);
    const sealed = await world.seal(id);
    expect(majorOf(sealed)).toEqual(['approval_stale', 'approver_took_part']);
    expect(await checkOf(sealed)).toMatchObject({ result: 'fail' });
    await decide(id, other, 'approved');
    const again = await world.seal(id);
    expect(majorOf(again)).toEqual([]);
    expect(await checkOf(again)).toMatchObject({ result: 'pass' });
  });

  it('an approver who added an artifact', async () => {
    const { id } = await item('second:1');
    await world.post(`/riskops-evidence/work-items/${id}/artifacts`, { type: 'pull_request', title: 'Fix', url: 'https://git.example.com/2' }, other);
    await scan('second:1', []);
    expect(await decide(id, other, 'approved')).toMatchObject({ independent: false });
    expect(majorOf(await world.seal(id))).toEqual(['approver_took_part']);
  });

  it('an approval that was followed by a rejection', async () => {
    const { id } = await item('third:1');
    await scan('third:1', []);
    await decide(id, other, 'approved');
    await decide(id, other, 'rejected');
    const rejected = await world.seal(id);
    expect(majorOf(rejected)).toEqual(['rejected']);
    expect(await checkOf(rejected)).toMatchObject({ result: 'not_applicable' });
    await decide(id, other, 'approved');
    expect(majorOf(await world.seal(id))).toEqual([]);
  });

  it('findings that were removed from the work item while open', async () => {
    const { id } = await item('fourth:1', ['openssl', 'curl']);
    const { data } = await world.get<{ data: { id: string }[] }>(`/findings?work_item_id=${id}`);
    const [unlinked] = data;
    await world.api().call('DELETE', `/api/v1/work-items/${id}/findings/${unlinked?.id}`, { as: worker });
    const sealed = await world.seal(id);
    const gap = sealed.completeness.gaps.find(({ code }) => code === 'unlinked_active');
    expect(gap).toMatchObject({ weight: 'major', about: [unlinked?.id], what: expect.stringContaining('no reason given') });
    await world.scan('fourth:1', []);
    expect(majorOf(await world.seal(id))).not.toContain('unlinked_active');
  });

  it('findings that no scan has covered since they were claimed as fixed', async () => {
    const { id } = await item('fifth:1');
    await patch(`/work-items/${id}`, { status: 'awaiting_verification', reason: 'patched' }, worker);
    const { package_id } = await world.seal(id);
    const finding = JSON.parse((await world.download(package_id, 'jsonl')).toString());
    expect([finding]).toMatchObject([{ state: 'remediated', before: { state: 'present' }, after: { state: 'unknown', scan: null } }]);
  });

  it('what happened to each finding, as the verifier computes it again from the audit trail', async () => {
    const components = ['openssl', 'curl', 'zlib', 'bash', 'perl'];
    const { id } = await item('sixth:1', components);
    const { data } = await world.get<{ data: { id: string; title: string }[] }>(`/findings?work_item_id=${id}`);
    const [openssl = '', curl = '', zlib = '', bash = '', perl = ''] = components.map((name) => data.find(({ title }) => title.endsWith(name))?.id ?? '');
    await patch(`/findings/${openssl}`, { status: 'remediated', reason: 'patched' }, worker);
    await scan('sixth:1', components.slice(1));
    await scan('sixth:1', components);
    const end = new Date(Date.now() + 30 * 86_400_000).toISOString();
    await patch(`/findings/${zlib}`, { status: 'risk_accepted', reason: 'behind a proxy', owner: 'Grace', expires_at: end }, worker);
    await patch(`/findings/${zlib}`, { status: 'risk_accepted', reason: 'behind a proxy', owner: 'Ada', expires_at: end }, other);
    // Findings that were merged and separated get their states back, and the audit trail says so.
    await patch(`/findings/${curl}`, { status: 'false_positive', reason: 'not used', justification: 'code_not_present' }, worker);
    const merge = (from: string, into: string) => world.post<{ id: string }>(`/findings/${from}/merge`, { into, reason: 'one library' }, worker);
    await merge(curl, bash);
    expect(await world.seal(id)).toMatchObject({ status: 'ready' });
    const isMerged = async (finding: string) => (await world.get<{ merged_into: string | null }>(`/findings/${finding}/identity`)).merged_into !== null;
    await world.post(`/findings/${(await isMerged(curl)) ? curl : bash}/split`, { reason: 'two libraries' }, worker);
    await merge(perl, openssl);
    await world.api().call('DELETE', `/api/v1/work-items/${id}/findings/${bash}`, { as: worker });
    const { package_id } = await world.seal(id);
    const lines = (await world.download(package_id, 'jsonl')).toString().trimEnd().split('\n');
    const findings = new Map(lines.map((line) => JSON.parse(line)).map((finding) => [finding.id, finding]));
    const [kept, gone] = (await isMerged(perl)) ? [openssl, perl] : [perl, openssl];
    expect(findings.get(kept)).toMatchObject({ merged: [{ id: gone, state: 'open', title: expect.any(String), severity: 'high' }] });
    expect(findings.get(curl)).toMatchObject({ state: 'false_positive', state_reason: 'not used', merged: [] });
    expect(findings.get(zlib)).toMatchObject({ state_reason: 'behind a proxy', closed_at: expect.any(String) });
    const evidence = JSON.parse((await world.download(package_id, 'json')).toString());
    expect(evidence.unlinked).toMatchObject([{ id: bash, severity: 'high' }]);
  });
});
