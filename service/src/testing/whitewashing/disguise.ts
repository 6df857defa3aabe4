import type { Attempt } from './attempt.ts';
import { type Case, remediate } from './case.ts';
import { signInAndChange } from './people.ts';
import { cve, daysAgo, grype } from './reports.ts';

const PASSWORD = 'a password that the owner has chosen';
const undated = (report: string): string => report.replace(/"timestamp":"[^"]*",/, '');

/** A member whom the owner adds, and as whom the owner can sign in. */
async function puppet(one: Case, name: string): Promise<{ cookie: string }> {
  const email = `${name}@${one.team.slug}.example`;
  await one.call('owner', 'POST', '/members', { email, name, role: 'analyst', password: PASSWORD });
  return signInAndChange(one.api, email, PASSWORD);
}

/** A work item whose worker is a member that the owner has just added. */
async function puppetWork(one: Case, ...weaknesses: number[]): Promise<string> {
  await one.scan({ weaknesses, at: daysAgo(3) });
  const finding_ids = (await one.findings(...weaknesses)).map(({ id }) => id);
  const { id } = await one.call('lead', 'POST', '/work-items', { title: 'Update the shop', finding_ids });
  await one.artifact(id);
  const worker = await puppet(one, 'first');
  await one.call(worker, 'PATCH', `/work-items/${id}`, { status: 'awaiting_verification', reason: 'rolled out' });
  return id;
}

/** Routes that disguise who did the work. */
const people: readonly Attempt[] = [
  {
    name: 'play the worker and the scanner with two members that one has added',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      const item = await puppetWork(one, 1);
      await one.upload(grype({ weaknesses: [], build: 2 }), { by: await puppet(one, 'second') });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'play the worker and whoever accepts the risk with two members that one has added',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['exception_self_decided'],
    async run(one) {
      const item = await puppetWork(one, 1, 10);
      const { id } = await one.oneFinding(1);
      const acceptance = { status: 'risk_accepted', reason: 'too much work', owner: 'second', expires_at: daysAgo(-30).toISOString() };
      await one.call(await puppet(one, 'second'), 'PATCH', `/findings/${id}`, acceptance);
      await one.scan({ weaknesses: [1], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'approve the work of a member that one has added',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await puppetWork(one, 1);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item, 'owner');
      return item;
    },
  },
  {
    name: 'remove the worker, and add the worker again as a member who approves',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      const { id, email } = one.team.members.worker;
      await one.call('owner', 'DELETE', `/members/${id}`);
      await one.call('owner', 'POST', '/members', { email, name: 'Independent Auditor', role: 'analyst', password: PASSWORD });
      await one.approve(item, await signInAndChange(one.api, email, PASSWORD));
      return item;
    },
  },
  {
    name: 'reject with a key that belongs to nobody, and approve with another one',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['rejected'],
    async run(one) {
      const item = await remediate(one);
      const key = await one.ownerlessKey();
      const { state_digest } = await one.call<{ state_digest: string }>(key, 'GET', `/work-items/${item}/state`);
      await one.call(key, 'POST', `/work-items/${item}/approvals`, { decision: 'rejected', state_digest, comment: 'not rolled out' });
      await one.approve(item, await one.ownerlessKey());
      return item;
    },
  },
];

/** Routes that disguise who scanned, or when. */
const scans: readonly Attempt[] = [
  {
    name: 'upload a report of the same build without the finding, as if its source had withdrawn it',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker', 'withdrawn_by_source'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      await one.artifact(item);
      await one.scan({ weaknesses: [10], at: daysAgo(2) }, { by: 'worker' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'have an overdue finding seen again after it was gone, so that its deadline starts later',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['sla_missed', 'clock_reset'],
    async run(one) {
      await one.scan({ weaknesses: [1, 20], at: daysAgo(60) });
      const item = await one.item(1, 20);
      await one.artifact(item);
      await one.scan({ weaknesses: [20], build: 2, at: daysAgo(3) });
      await one.scan({ weaknesses: [1, 20], build: 3, at: daysAgo(2) });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 4 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'state that a report without a date is from before the deadline',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['sla_missed', 'scan_undated'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(60) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.upload(undated(grype({ weaknesses: [], build: 2 })), { scope: { started_at: daysAgo(58).toISOString() } });
      await one.approve(item);
      return item;
    },
  },
];

/** Routes that disguise what became of a finding. */
const outcomes: readonly Attempt[] = [
  {
    name: 'remove a finding from the work item, and have it verified without a scan',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['unlinked_excepted'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      await one.artifact(item);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'DELETE', `/work-items/${item}/findings/${id}`);
      await one.call('worker', 'PATCH', `/findings/${id}`, { status: 'remediated', reason: 'rolled out' });
      await one.call('scanner', 'PATCH', `/findings/${id}`, { status: 'verified', reason: 'looked at it' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'remove a finding from the work item, and merge it with one that was never in it',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['unlinked_active'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2, 3], at: daysAgo(3) });
      const item = await one.item(1, 2);
      const [removed, other] = [await one.oneFinding(2), await one.oneFinding(3)];
      await one.call('worker', 'DELETE', `/work-items/${item}/findings/${removed.id}`);
      await one.call('worker', 'POST', `/findings/${removed.id}/merge`, { into: other.id, reason: 'the same weakness' });
      await one.claim(item);
      await one.scan({ weaknesses: [2, 3], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'tell the scanner to ignore the finding',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['unfinished', 'suppressed_in_tool'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const { matches, ...report } = JSON.parse(grype({ weaknesses: [1], build: 2 }));
      const [ignored, ...others] = matches;
      const ignoredMatches = [{ ...ignored, appliedIgnoreRules: [{ vulnerability: cve(1) }] }];
      await one.upload(JSON.stringify({ ...report, matches: others, ignoredMatches }));
      await one.approve(item);
      return item;
    },
  },
];

export const disguise: readonly Attempt[] = [...people, ...scans, ...outcomes];
