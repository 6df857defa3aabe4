import type { Attempt } from './attempt.ts';
import { type Case, remediate } from './case.ts';
import { signInAndChange } from './people.ts';
import { cve, daysAgo, grype, IMAGE, trivy } from './reports.ts';

const PASSWORD = 'a password that the owner has chosen';
const ADVISORY = 'GHSA-2222-3333-4444';
const byAdvisory = (report: string): string => report.replace(cve(1), ADVISORY);

/** Both findings of a work item, of which the second scanner still shows one under another id. */
async function revoked(one: Case): Promise<string> {
  await one.upload(byAdvisory(grype({ weaknesses: [1], at: daysAgo(3) })));
  await one.upload(trivy({ weaknesses: [1], at: daysAgo(3) }), { format: 'trivy' });
  await one.call('lead', 'POST', '/vulnerability-aliases', { alias: ADVISORY, vulnerability: cve(1), reason: 'the same weakness' });
  const item = await one.item(1);
  await one.artifact(item);
  await one.claim(item);
  await one.call('worker', 'POST', `/vulnerability-aliases/${ADVISORY}/revoke`, { reason: 'another weakness' });
  await one.upload(trivy({ weaknesses: [], build: 2 }), { format: 'trivy' });
  await one.upload(byAdvisory(grype({ weaknesses: [1], build: 2 })));
  return item;
}

/** Routes that take something out of the work item without removing it. */
const separated: readonly Attempt[] = [
  {
    name: 'revoke an alias, so that the second scanner means something else',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      const item = await revoked(one);
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'revoke an alias, and approve the work',
    conclusion: 'partially_remediated',
    grade: 'D',
    gaps: ['approver_took_part', 'unfinished'],
    async run(one) {
      const item = await revoked(one);
      await one.call('approver', 'POST', `/vulnerability-aliases/${ADVISORY}/restore`, { reason: 'as it was' });
      await one.call('approver', 'POST', `/vulnerability-aliases/${ADVISORY}/revoke`, { reason: 'still another one' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'give two findings to the work item as one, and separate the one that is still open',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const [open, fixed] = [await one.oneFinding(1), await one.oneFinding(10)];
      const { id: kept } = await one.call('worker', 'POST', `/findings/${open.id}/merge`, { into: fixed.id, reason: 'one weakness' });
      const merged = kept === open.id ? fixed.id : open.id;
      const { id: item } = await one.call('lead', 'POST', '/work-items', { title: 'Update the shop', finding_ids: [kept] });
      await one.artifact(item);
      await one.claim(item);
      await one.call('worker', 'POST', `/findings/${merged}/split`, { reason: 'two weaknesses' });
      await one.scan({ weaknesses: [kept === open.id ? 10 : 1], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'seal the closed work item again after its finding came back',
    conclusion: 'partially_remediated',
    grade: 'D',
    closedBefore: true,
    gaps: ['unfinished'],
    async run(one) {
      const item = await remediate(one);
      await one.approve(item);
      await one.scan({ weaknesses: [1], build: 3 });
      return item;
    },
  },
];

/** Routes by which a report that is not to be believed hides behind another one, or is gone. */
const reports: readonly Attempt[] = [
  {
    name: 'let the worker upload the rescan of the scanner that still sees it, next to that of another one',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      await one.upload(trivy({ weaknesses: [1], at: daysAgo(2) }), { format: 'trivy' });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 }, { by: 'worker' });
      await one.upload(trivy({ weaknesses: [], build: 2 }), { format: 'trivy' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'delete the report of the rescan',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_not_kept'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const { id } = await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      await one.call('worker', 'DELETE', `/imports/${id}/file`);
      return item;
    },
  },
  {
    name: 'upload a report that rates the finding lower',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['sla_missed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(40) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.upload(grype({ weaknesses: [1], at: daysAgo(39) }).replace('"Critical"', '"Low"'), { by: 'worker' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: "import one's own export again, changed to say that all is fixed",
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      for (const format of ['csv', 'ndjson', 'openvex']) {
        const exported = await one.call<unknown>('worker', 'GET', `/findings/export?format=${format}`);
        const text = typeof exported === 'string' ? exported : JSON.stringify(exported);
        const fixed = text.replaceAll(/\b(?:remediated|open|under_investigation|affected)\b/g, 'fixed');
        const query = new URLSearchParams({ scan_scope: JSON.stringify({ coverage: 'complete', ...scope }) });
        const { status } = await one.runImport(await one.call('worker', 'POST', `/imports?${query}`, Buffer.from(fixed)));
        if (status === 'failed') throw new Error(`the edited ${format} was not imported`);
      }
      await one.approve(item);
      return item;
    },
  },
];

/** Routes that take back what somebody said. */
const unsaid: readonly Attempt[] = [
  {
    name: 'set the password of whoever rejected the work, and approve it as that person',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['rejected'],
    async run(one) {
      const item = await remediate(one);
      const { state_digest } = await one.call<{ state_digest: string }>('approver', 'GET', `/work-items/${item}/state`);
      await one.call('approver', 'POST', `/work-items/${item}/approvals`, { decision: 'rejected', state_digest, comment: 'not rolled out' });
      const { id, email } = one.team.members.approver;
      await one.call('owner', 'PATCH', `/members/${id}`, { password: PASSWORD });
      await one.approve(item, await signInAndChange(one.api, email, PASSWORD));
      return item;
    },
  },
];

export const apart: readonly Attempt[] = [...separated, ...reports, ...unsaid];
