import { createHash } from 'node:crypto';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { describe, expect, it } from 'vitest';
import { allFormats, type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { addPersonWithKey } from '../../testing/people.ts';

const world = usePackages();
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const gapsOf = ({ completeness }: PackageBody): string[] => completeness.gaps.map(({ code }) => code).sort();
async function trust() {
  const trusted = emptyTrust();
  addKeys(trusted, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  return trusted;
}
const verify = async (zip: Buffer) => verifyPackage(bytesSource(zip), await trust(), nodePlatform());

describe('a package', () => {
  it('of finished work concludes remediated and verifies offline with the published keys', async () => {
    const add = async () => (await addPersonWithKey(world.api(), world.api().ours, 'analyst')).key;
    const [opener, worker, approver] = [await add(), await add(), await add()];
    await world.scan('shop:1', ['openssl', 'curl'], { as: opener });
    const item = await world.workItem('Update the shop', { asset: 'shop:1' }, opener);
    const change = { type: 'pull_request', title: 'Update', url: 'https://git.example.com/shop/1' };
    await world.post(`/riskops-evidence/work-items/${item.id}/artifacts`, change, worker);
    await world.scan('shop:1', [], { as: opener });
    await world.decide(item.id, approver);

    const sealed = await world.seal(item.id, { ...allFormats, note: 'for the audit' });
    expect(sealed).toMatchObject({ status: 'ready', sequence: 1, conclusion: 'remediated', error: null });
    expect(gapsOf(sealed)).toEqual(['artifact_not_captured', 'no_artifact', 'no_timestamp', 'scan_by_hand', 'scan_undated']);
    expect(sealed.completeness.grade).toBe('B');

    const zip = await world.download(sealed.package_id);
    expect(sha256(zip)).toBe(sealed.hashes.archive_sha256);
    const report = await verify(zip);
    expect(report.failures).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', package: { id: sealed.package_id, conclusion: 'remediated', log: { index: sealed.log.index } } });
    expect(await world.post(`/riskops-evidence/packages/${sealed.package_id}/verify`, undefined)).toMatchObject({
      verdict: 'verified',
      failures: [],
      superseded: null,
    });

    for (const { format, sha256: hash, size } of sealed.downloads) {
      const bytes = await world.download(sealed.package_id, format);
      expect([format, bytes.length, sha256(bytes)]).toEqual([format, size, hash]);
    }
    const evidence = JSON.parse((await world.download(sealed.package_id, 'json')).toString());
    const [approval] = evidence.approvals;
    expect(sealed.files.find(({ path }) => path === `data/approvals/${approval.id}.jsonl`)?.sha256).toBe(approval.state_sha256);
    const findings = (await world.download(sealed.package_id, 'jsonl'))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(findings).toMatchObject([
      {
        state: 'verified',
        assurance: 'scan_only',
        before: { state: 'present' },
        after: { state: 'absent' },
        occurrence_count: 1,
        occurrences: [{ place: expect.any(String), state: 'absent', source: expect.any(String), track: expect.any(String) }],
      },
      { state: 'verified', after: { state: 'absent' } },
    ]);
    expect(
      evidence.scans.map(({ phase, complete, file }: { phase: string; complete: boolean; file: string }) => [phase, complete, file.split('/')[2]]),
    ).toEqual([
      ['before', true, 'before'],
      ['after', true, 'after'],
    ]);
    expect(evidence.note).toBe('for the audit');
  });

  it('of unfinished work states that it is not remediated', async () => {
    await world.scan('api:1', ['zlib']);
    const item = await world.workItem('Update the API', { asset: 'api:1' });
    const sealed = await world.seal(item.id);
    expect(sealed).toMatchObject({ status: 'ready', conclusion: 'not_remediated' });
    expect(gapsOf(sealed)).toEqual(['no_approval', 'no_artifact', 'no_timestamp', 'unfinished']);
    expect((await verify(await world.download(sealed.package_id))).verdict).toBe('verified');
    expect((await world.download(sealed.package_id, 'html')).toString()).toMatch(/not remediated/i);
    const evidence = JSON.parse((await world.download(sealed.package_id, 'json')).toString());
    expect(evidence.scans).toMatchObject([{ phase: 'before' }]);
  });

  it('can be generated without findings', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Nothing yet' });
    const sealed = await world.seal(id);
    expect(gapsOf(sealed)).toContain('no_findings');
    expect((await verify(await world.download(sealed.package_id))).verdict).toBe('verified');
  });

  it('contains artifacts as received, under safe names', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'With a file' });
    const form = new FormData();
    const content = Buffer.from('<script>alert(1)</script>');
    form.append('type', 'screenshot');
    form.append('title', 'A picture');
    form.append('file', new Blob([content]), '../../etc/passwd');
    const headers = { authorization: `Bearer ${world.api().ours.owner}` };
    const added = (await (
      await fetch(`${world.api().url}/api/v1/riskops-evidence/work-items/${id}/artifacts`, { method: 'POST', body: form, headers })
    ).json()) as { id: string };
    const sealed = await world.seal(id);
    expect(sealed.files.find(({ path }) => path === `data/artifacts/${added.id}/content`)).toMatchObject({ size: content.length, sha256: sha256(content) });
    expect((await verify(await world.download(sealed.package_id))).verdict).toBe('verified');
  });

  it('contains the requested formats and evidence.json', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Only a table' });
    const sealed = await world.seal(id, { formats: ['csv'] });
    expect(sealed.downloads.map(({ format }) => format)).toEqual(['zip', 'html', 'json', 'jsonl', 'csv']);
    const answer = await world.api().call('GET', `/api/v1/riskops-evidence/packages/${sealed.package_id}/download?format=pdf`, { as: world.api().ours.owner });
    expect(answer).toMatchObject({ status: 404, body: { detail: expect.stringContaining('zip, html, json, jsonl, csv') } });
    expect((await verify(await world.download(sealed.package_id))).verdict).toBe('verified');
  });
});

describe('a package is superseded', () => {
  it('by the next package of the work item, and still verifies', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Twice' });
    const first = await world.seal(id);
    const second = await world.seal(id);
    expect(second).toMatchObject({ sequence: 2, status: 'ready' });
    expect(await world.get(`/riskops-evidence/packages/${first.package_id}`)).toMatchObject({ status: 'superseded', superseded_by: second.package_id });
    expect((await verify(await world.download(first.package_id))).verdict).toBe('verified');
    const evidence = JSON.parse((await world.download(second.package_id, 'json')).toString());
    expect(evidence.earlier).toMatchObject([{ package_id: first.package_id, sequence: 1, outcome: 'ready', log: { epoch: 1, index: first.log.index } }]);
    expect(await world.get(`/riskops-evidence/work-items/${id}/packages`)).toMatchObject({ data: [{ sequence: 2 }, { sequence: 1 }] });
  });

  it('when one of its findings is reopened, and still verifies', async () => {
    await world.scan('web:1', ['expat']);
    const item = await world.workItem('Update the web', { asset: 'web:1' });
    await world.scan('web:1', []);
    const sealed = await world.seal(item.id);
    expect(sealed.conclusion).toBe('remediated');
    expect(await world.scan('web:1', ['expat'])).toMatchObject({ counts: { reopened: 1 } });
    expect(await world.get(`/riskops-evidence/packages/${sealed.package_id}`)).toMatchObject({
      status: 'superseded',
      superseded: { by: null, reason: expect.stringContaining('was reopened') },
    });
    expect(await world.post(`/riskops-evidence/packages/${sealed.package_id}/verify`, undefined)).toMatchObject({
      verdict: 'verified',
      superseded: expect.stringContaining('was reopened'),
    });
  });
});

describe('concurrent packages', () => {
  it('all verify and have different indexes in the transparency log', async () => {
    const items = await Promise.all(Array.from({ length: 8 }, (_, n) => world.post<{ id: string }>('/work-items', { title: `Item ${n}` })));
    const sealed = await Promise.all(items.map(({ id }) => world.seal(id)));
    expect(new Set(sealed.map(({ status }) => status))).toEqual(new Set(['ready']));
    expect(new Set(sealed.map(({ log }) => log.index)).size).toBe(8);
    for (const { package_id } of sealed) expect((await verify(await world.download(package_id))).verdict).toBe('verified');
  });
});

describe('a sealed package', () => {
  it('cannot be changed and is invisible to other organizations', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Kept' });
    const { package_id } = await world.seal(id);
    const { ours, theirs, db, call } = world.api();
    const change = (set: string) =>
      db.withTenant({ orgId: ours.id }, (tx) =>
        tx
          .updateTable('evidence_packages')
          .set({ [set]: 'x' } as never)
          .where('id', '=', package_id)
          .execute(),
      );
    for (const column of ['archive_sha256', 'conclusion', 'note']) await expect(change(column)).rejects.toThrow('does not change');
    await world.get(`/riskops-evidence/packages/${package_id}`);
    expect(await world.get(`/audit-events?object_id=${package_id}&action=package.viewed`)).toMatchObject({ data: [{ actor: { type: 'api_key' } }] });
    for (const path of ['', '/download', '/verify'])
      expect((await call(path === '/verify' ? 'POST' : 'GET', `/api/v1/riskops-evidence/packages/${package_id}${path}`, { as: theirs.owner })).status).toBe(
        404,
      );
    expect((await call('POST', '/api/v1/riskops-evidence/packages', { as: theirs.owner, body: { work_item_id: id } })).status).toBe(404);
  });
});
