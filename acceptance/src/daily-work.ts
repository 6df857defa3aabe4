import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from './http.ts';
import { type CommandResult, run, type Service, until } from './service.ts';
import type { Vendor } from './vendor.ts';

interface Given {
  cli(args: readonly string[], options?: { env?: Record<string, string>; input?: string }): Promise<CommandResult>;
  /** Where commands run. */
  folder: string;
  home: string;
  program: readonly [string, ...string[]];
  service(): Service & { key: string };
  vendor(): Vendor;
}

/** What people do with `rrs` in a terminal, on a service with the findings of a pipeline. Part of cli.test.ts, which starts the service. */
export function testDailyWork({ cli, folder, home, program, service, vendor }: Given): void {
  const json = async <T>(args: string[]): Promise<T> => {
    const { stdout, stderr } = await cli([...args, '--json']);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as T;
  };

  const found: { id: string; tags: string[] }[] = [];
  let item = '';

  test('findings are triaged by id, by standard input and by filter, which needs a confirmation', async () => {
    found.push(...(await json<typeof found>(['findings', 'list', '--status', 'open', '--sort=-severity'])));
    const [first, second] = found;
    expect(await cli(['findings', 'triage', first?.id ?? '', '--to', 'in_progress'])).toMatchObject({
      code: 0,
      stdout: 'Changed 1 finding: 0 unchanged, 0 refused.\n',
    });
    const tagged = await cli(['findings', 'triage', '-', '--add-tag', 'seen,ours'], { input: `${first?.id}\n${second?.id}\n` });
    expect(tagged.stdout).toBe('Changed 2 findings: 0 unchanged, 0 refused.\n');
    expect(await json(['findings', 'show', first?.id ?? ''])).toMatchObject({ status: 'in_progress', tags: expect.arrayContaining(['ours', 'seen']) });
    expect(await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open', '--dry-run'])).stdout).toMatch(/^Would change 1 finding: 1 unchanged/);
    expect((await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open', '--yes'])).stdout).toMatch(/^Changed 1 finding: 1 unchanged/);
    expect(await cli(['findings', 'triage', first?.id ?? '', '--to', 'false_positive'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('justification'),
    });
  });

  test('findings are exported to a file or a pipe', async () => {
    expect(await cli(['findings', 'export', '--format', 'sarif', '--output', 'out.sarif'])).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    expect((await cli(['findings', 'export', '--severity', 'critical'])).stdout).toMatch(/^id,/);
    expect(await cli(['findings', 'export', '--output', 'no/such/folder.csv'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
  });

  test('assets are shown and changed by name', async () => {
    const [asset] = await json<{ id: string; name: string }[]>(['assets', 'list', '--type', 'container_image']);
    const name = asset?.name ?? '';
    expect((await cli(['assets', 'update', name, '--criticality', 'critical', '--owner', 'team-shop'])).stdout).toContain('team-shop');
    expect(await json(['assets', 'show', name])).toMatchObject({
      id: asset?.id,
      criticality: 'critical',
      tracks: expect.arrayContaining([expect.objectContaining({ name: 'main' })]),
    });
    expect(await cli(['assets', 'show', 'no-such-asset'])).toMatchObject({ code: 2, stderr: expect.stringContaining('rrs assets list') });
    expect(await cli(['assets', 'update', name])).toMatchObject({ code: 2 });
  });

  test('work is created for a filter, changed and approved after a look at it', async () => {
    ({ id: item } = await json<{ id: string }>(['work', 'create', '--title', 'Update the base image', '--tag', 'ours', '--due', '2027-03-31']));
    expect(await json(['work', 'show', item])).toMatchObject({ due_at: '2027-03-31T23:59:59.000Z' });
    expect((await cli(['work', 'add', item, found[2]?.id ?? ''])).stdout).toBe('Added 1 finding, 0 were already there.\n');
    expect((await cli(['work', 'update', item, '--assignee', 'ann@example.com', '--priority', 'high'])).stdout).toContain('ann@example.com');
    expect((await cli(['work', 'list', '--assignee', 'ann@example.com'])).stdout).toContain('0 of 3');
    expect((await cli(['work', 'show', item])).stdout).toMatch(/Update the base image\n.+2027-03-31.+\nSEVERITY/s);
    expect(await cli(['work', 'update', item, '--status', 'cancelled'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^rrs: --reason is required /),
    });
    expect(await cli(['findings', 'triage', '--tag', 'ours', '--to', 'risk_accepted', '--dry-run'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^rrs: --reason is required: [^;]+; --accepted-by is required: [^;]+; --expires is required: [^;]+\n$/),
    });
    const accept = [
      'findings',
      'triage',
      '--tag',
      'ours',
      '--to',
      'risk_accepted',
      '--reason',
      'Behind the VPN',
      '--accepted-by',
      'Ann',
      '--expires',
      '2027-03-31',
    ];
    expect(await cli([...accept, '--compensating-control', 'x', '--dry-run'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^rrs: --compensating-control must /),
    });
    expect(await cli([...accept, '--compensating-control', 'Requests are filtered', '--dry-run'])).toMatchObject({ code: 0 });
    expect(await cli(['work', 'approve', item])).toMatchObject({ code: 0, stderr: expect.stringContaining('--yes') });
  });

  test('evidence is sealed, downloaded, verified with the published keys and shared', async () => {
    expect((await cli(['evidence', 'seal', item, '--dry-run'])).stdout).toMatch(/would state.+not_remediated/s);
    const { package_id: id } = await json<{ package_id: string }>(['evidence', 'seal', item, '--note', 'For the test']);
    expect((await cli(['evidence', 'list', '--work-item-id', item])).stdout).toContain(id);
    expect(await cli(['evidence', 'download', id, '--output', 'evidence.zip'])).toMatchObject({ code: 0, stdout: '' });
    expect(await cli(['evidence', 'verify', 'evidence.zip'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/verified/i) });
    const bytes = readFileSync(join(folder, 'evidence.zip'));
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(join(folder, 'tampered.zip'), bytes);
    expect((await cli(['evidence', 'verify', 'tampered.zip'])).code).toBe(1);
    const shared = await cli(['evidence', 'share', id, '--recipient', 'auditor@example.com', '--hours', '2']);
    expect(await (await fetch(shared.stdout.trim())).json()).toMatchObject({ package_id: id });
    expect(existsSync(join(folder, 'evidence.zip.part'))).toBe(false);
  });

  test('connections are listed, run and watched', async () => {
    expect(await cli(['connections', 'list'])).toMatchObject({ code: 0, stdout: 'No connections.\n' });
    vendor().setSize({ issues: 3, records: 3 });
    const connection = { provider: 'report_url', name: 'Nightly', config: { url: `${vendor().origin}/reports/shop`, format: 'generic' } };
    await call(service().url, '/api/v1/integrations', { key: service().key, body: connection });
    expect(await cli(['connections', 'sync', 'nightly'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nightly: succeeded\. 3 new/) });
    expect(await cli(['connections', 'health'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/healthy .+ Nightly/) });
    expect(await cli(['connections', 'sync', 'Weekly'])).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no connection "Weekly"') });
  });

  test('events are watched, and watching continues after the last one', async () => {
    const watching = run(['watch', '--types', 'work_item.*', '--count', '1', '--json'], {
      command: program,
      env: { HOME: home, RRS_URL: service().url, RRS_API_KEY: service().key },
    });
    await until('the first event', async () => {
      await cli(['work', 'create', '--title', 'Something happens']);
      return watching.exited();
    });
    const { id } = JSON.parse(watching.stdout()) as { id: string };
    await cli(['work', 'create', '--title', 'Something else happens']);
    expect((await cli(['watch', '--types', 'work_item.*', '--since', id, '--count', '1'])).stdout).toMatch(/work_item\.created/);
  });

  test('what has an id is opened in the browser', async () => {
    writeFileSync(join(home, 'browser'), `#!/bin/sh\necho "$1" > ${join(home, 'opened')}\n`);
    chmodSync(join(home, 'browser'), 0o755);
    expect(await cli(['open', item], { env: { BROWSER: join(home, 'browser') } })).toMatchObject({ code: 0, stdout: `${service().url}/work/${item}\n` });
    await until('the browser was started', () => existsSync(join(home, 'opened')));
    expect((await cli(['open', '--print'])).stdout).toBe(`${service().url}/\n`);
    expect(await cli(['open', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing has the id') });
  });

  test('findings can be listed, filtered and shown', async () => {
    const { stdout } = await cli(['findings', 'list', '--status', 'open', '--limit', '2', '--json']);
    const found = JSON.parse(stdout) as { id: string; title: string }[];
    expect(found).toHaveLength(2);
    const [first] = found;
    expect((await cli(['findings', 'show', first?.id ?? ''])).stdout).toMatch(new RegExp(`^.+\\n {2}id +${first?.id}\\n {2}severity +`));
    expect(await cli(['findings', 'list', '--q', 'no-such-word-anywhere'])).toMatchObject({ code: 0, stdout: 'No findings.\n' });
  });
}
