import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { builtIn } from '../../integrations/connections/providers.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { syncHandler } from '../../integrations/handlers.ts';
import { syncDefaults } from '../../integrations/sync/sync.ts';
import type { Case } from './case.ts';
import type { PersonName } from './people.ts';

/** Serves one file, as whoever owns the machine likes. */
export async function serve(text: string): Promise<{ url: string; replace(text: string): void; close(): void }> {
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

export async function sync(one: Case, connection: string, expected = 'succeeded'): Promise<string> {
  const { db, blobs, follower, outbound } = one.api;
  const { id } = await one.call('lead', 'POST', `/integrations/${connection}/sync`);
  const syncing = { ...syncDefaults, providers: builtIn, keys: openKeyRing(one.keysDir), blobs, follower, sender: outbound };
  const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
  await syncHandler(syncing).run({ org_id: one.team.orgId, run_id: id }, context);
  const run = await one.call<{ status: string; error: unknown }>('lead', 'GET', `/integrations/${connection}/runs/${id}`);
  if (run.status !== expected) throw new Error(JSON.stringify(run));
  return id;
}

/** A connection that reads one file. */
export async function connect(one: Case, by: PersonName, config: { url: string; format: string }): Promise<string> {
  return (await one.call(by, 'POST', '/integrations', { provider: 'report_url', name: 'Nightly scans', config, credentials: {}, schedule: null })).id;
}
