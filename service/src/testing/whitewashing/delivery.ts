import type { Attempt } from './attempt.ts';
import type { ListedFinding } from './case.ts';
import { connect, serve, sync } from './connection.ts';
import { daysAgo, grype, trivy } from './reports.ts';

/** Routes by which the people who did the work deliver the rescan themselves. */
export const delivery: readonly Attempt[] = [
  {
    name: "fetch the rescan through a connection of one's own, to a server of one's own",
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      const server = await serve(grype({ weaknesses: [1], at: daysAgo(3) }));
      const connection = await connect(one, 'lead', { url: server.url, format: 'grype' });
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
    grade: 'C',
    gaps: ['scan_by_worker', 'brake_confirmed'],
    async run(one) {
      const server = await serve(grype({ weaknesses: [1], at: daysAgo(3) }));
      const connection = await connect(one, 'owner', { url: server.url, format: 'grype' });
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
    grade: 'C',
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
    grade: 'D',
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
