import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtIn } from '../../integrations/connections/providers.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { syncHandler } from '../../integrations/handlers.ts';
import { syncDefaults } from '../../integrations/sync/sync.ts';
import type { Attempt } from './attempt.ts';
import type { Case, ListedFinding } from './case.ts';
import { daysAgo, grype, trivy } from './reports.ts';

/** Serves one file, as whoever owns the machine likes. */
async function serve(text: string): Promise<{ url: string; replace(text: string): void; close(): void }> {
  const served = { text };
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', etag: `"${served.text.length}"` }).end(served.text),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/report.json`,
    replace: (next) => {
      served.text = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function sync(one: Case, connection: string, expected = 'succeeded'): Promise<string> {
  const { db, blobs, follower, outbound } = one.api;
  const { id } = await one.call('lead', 'POST', `/integrations/${connection}/sync`);
  const syncing = { ...syncDefaults, providers: builtIn, keys: openKeyRing(one.keysDir), blobs, follower, sender: outbound };
  const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
  await syncHandler(syncing).run({ org_id: one.team.orgId, run_id: id }, context);
  const run = await one.call<{ status: string; error: unknown }>('lead', 'GET', `/integrations/${connection}/runs/${id}`);
  if (run.status !== expected) throw new Error(JSON.stringify(run));
  return id;
}

/** Routes by which the people who did the work deliver the rescan themselves. */
export const delivery: readonly Attempt[] = [
  {
    name: "fetch the rescan through a connection of one's own, to a server of one's own",
    conclusion: 'remediated',
    atBest: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      const server = await serve(grype({ weaknesses: [1], at: daysAgo(3) }));
      const body = { provider: 'report_url', name: 'Nightly scans', config: { url: server.url, format: 'grype' }, credentials: {}, schedule: null };
      const { id: connection } = await one.call('lead', 'POST', '/integrations', body);
      await sync(one, connection);
      const item = await one.item(1);
      await one.artifact(item);
      await one.call('lead', 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
      server.replace(grype({ weaknesses: [], build: 2 }));
      await sync(one, connection);
      server.close();
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'have somebody else point the connection to another server, and confirm what it closes',
    conclusion: 'remediated',
    atBest: 'C',
    gaps: ['scan_by_worker', 'brake_confirmed'],
    async run(one) {
      const server = await serve(grype({ weaknesses: [1], at: daysAgo(3) }));
      const body = { provider: 'report_url', name: 'Nightly scans', config: { url: server.url, format: 'grype' }, credentials: {}, schedule: null };
      const { id: connection } = await one.call('owner', 'POST', '/integrations', body);
      await sync(one, connection);
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const other = await serve(grype({ weaknesses: [], build: 2 }));
      await one.call('owner', 'PATCH', `/integrations/${connection}`, { config: { url: other.url, format: 'grype' } });
      const run = await sync(one, connection, 'needs_confirmation');
      await one.call('owner', 'POST', `/integrations/${connection}/runs/${run}/confirm`);
      for (const each of [server, other]) each.close();
      await one.approve(item);
      return item;
    },
  },
  {
    name: "upload the rescan in a workflow of one's own, with a key for it",
    conclusion: 'remediated',
    atBest: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.call('lead', 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
      const { key } = await one.call<{ key: string }>('lead', 'POST', '/api-keys', { name: 'CI pipeline', role: 'analyst' });
      await one.upload(grype({ weaknesses: [], build: 2 }), { by: { key } });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'switch off the search for secrets and state that it was on',
    conclusion: 'remediated',
    atBest: 'C',
    gaps: ['scan_by_worker', 'search_stated'],
    async run(one) {
      await one.upload(trivy({ weaknesses: [], at: daysAgo(3), secrets: ['.env'] }), { format: 'trivy' });
      const { data } = await one.call<{ data: ListedFinding[] }>('lead', 'GET', '/findings?q=env');
      const finding_ids = data.map(({ id }) => id);
      const { id: item } = await one.call('lead', 'POST', '/work-items', { title: 'Remove the secret', finding_ids, assignee: one.team.members.worker.email });
      await one.artifact(item);
      await one.claim(item);
      await one.upload(trivy({ weaknesses: [], build: 2 }), { by: 'worker', format: 'trivy', scope: { looked_for: ['secrets'] } });
      await one.approve(item);
      return item;
    },
  },
];
