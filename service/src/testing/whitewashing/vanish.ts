import { deleteOldRuns } from '../../integrations/sync/delete-old-runs.ts';
import type { Attempt } from './attempt.ts';
import type { Case, ListedFinding } from './case.ts';
import { connect, serve, sync } from './connection.ts';
import { daysAgo, grype, IMAGE, trivy } from './reports.ts';

const REPOSITORY = 'https://git.example/shop';
const LOCK_FILE = 'services/pay/package-lock.json';

/** A report about one folder of a repository. */
function folder(target: string, weaknesses: readonly number[], at = new Date()): string {
  const { Results, Metadata: _, ...report } = JSON.parse(trivy({ weaknesses, image: REPOSITORY, at }));
  const [first] = Results;
  return JSON.stringify({ ...report, ArtifactType: 'repository', Results: [{ ...first, Target: target, Class: 'lang-pkgs', Type: 'npm' }] });
}

/** The finding is in one folder, and the rescan is of another one. */
async function otherFolder(one: Case, path: string | null): Promise<string> {
  const scope = { asset: { type: 'repository', name: REPOSITORY }, track: 'main' };
  await one.upload(folder(LOCK_FILE, [1], daysAgo(3)), { format: 'trivy', scope });
  const item = await one.item(1);
  await one.artifact(item);
  await one.claim(item);
  await one.upload(folder('docs/package-lock.json', []), { format: 'trivy', scope: { ...scope, ...(path === null ? {} : { path }) } });
  await one.approve(item);
  return item;
}

/** Routes by which less is scanned than was scanned before. */
const narrowed: readonly Attempt[] = [
  {
    name: 'scan another folder of the repository',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    run: (one) => otherFolder(one, null),
  },
  {
    name: 'scan another folder of the repository, and name it',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    run: (one) => otherFolder(one, 'docs'),
  },
  {
    name: 'scan another folder of the repository, and state that all of it was scanned',
    conclusion: 'remediated',
    grade: 'B',
    gaps: ['search_stated'],
    run: (one) => otherFolder(one, '.'),
  },
  {
    name: 'have somebody else state that the tool looked for secrets',
    conclusion: 'remediated',
    grade: 'B',
    gaps: ['search_stated'],
    async run(one) {
      await one.upload(trivy({ weaknesses: [], at: daysAgo(3), secrets: ['.env'] }), { format: 'trivy' });
      const { data } = await one.call<{ data: ListedFinding[] }>('lead', 'GET', '/findings?q=env');
      const finding_ids = data.map(({ id }) => id);
      const { id: item } = await one.call('lead', 'POST', '/work-items', { title: 'Remove the secret', finding_ids, assignee: one.team.members.worker.email });
      await one.artifact(item);
      await one.claim(item);
      await one.upload(trivy({ weaknesses: [], build: 2 }), { format: 'trivy', scope: { looked_for: ['secrets'] } });
      await one.approve(item);
      return item;
    },
  },
];

/** Routes by which what speaks against the result is gone. */
const gone: readonly Attempt[] = [
  {
    name: 'seal again after removing the open finding, so that the second package supersedes the first one',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['unlinked_active', 'other_open_on_asset'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      await one.artifact(item);
      await one.call('worker', 'PATCH', `/work-items/${item}`, { status: 'in_progress' });
      await one.scan({ weaknesses: [1], build: 2 });
      const { conclusion } = await one.seal(item, ['json']);
      if (conclusion !== 'partially_remediated') throw new Error(`the first package says ${conclusion}`);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'DELETE', `/work-items/${item}/findings/${id}`);
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'keep runs of connections for a shorter time, so that the one that still shows the finding is deleted',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished', 'policy_loosened'],
    async run(one) {
      const server = await serve(trivy({ weaknesses: [1], at: daysAgo(3) }));
      const connection = await connect(one, 'owner', { url: server.url, format: 'trivy' });
      await sync(one, connection);
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      server.replace(trivy({ weaknesses: [1] }));
      await sync(one, connection);
      await one.scan({ weaknesses: [], build: 2 });
      server.close();
      await one.call('owner', 'PATCH', '/organization', { policy: { retention: { run_days: 30 } } });
      // As if the days had passed.
      const { orgId } = one.team;
      await one.api.db.withTenant({ orgId }, (tx) => deleteOldRuns(tx, orgId, 0, 1_000));
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'retire the asset, and have a clean scan create it again',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      const { asset } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/assets/${asset.id}`, { retired: true });
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
];

/** Routes that move the times of what a connection reads. */
const moved: readonly Attempt[] = [
  {
    name: 'have the server of a connection date its scan in the future',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    run: (one) => fetched(one, grype({ weaknesses: [], build: 2, at: daysAgo(-2) })),
  },
  {
    name: 'have the server of a connection date its scan before the claim',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    run: (one) => fetched(one, grype({ weaknesses: [], build: 2, at: daysAgo(1) })),
  },
  {
    name: 'have the server of a connection send an earlier clean report again with a new date',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [], build: 2, at: daysAgo(9) });
      return fetched(one, grype({ weaknesses: [], build: 2 }));
    },
  },
];

/** A connection of the owner, who does not do the work, reads the finding and then this report. */
async function fetched(one: Case, rescan: string): Promise<string> {
  const server = await serve(grype({ weaknesses: [1], at: daysAgo(3), image: IMAGE }));
  const connection = await connect(one, 'owner', { url: server.url, format: 'grype' });
  await sync(one, connection);
  const item = await one.item(1);
  await one.artifact(item);
  await one.claim(item);
  server.replace(rescan);
  await sync(one, connection);
  server.close();
  await one.approve(item);
  return item;
}

export const vanish: readonly Attempt[] = [...narrowed, ...gone, ...moved];
