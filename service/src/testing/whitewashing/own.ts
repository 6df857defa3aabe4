import type { Attempt } from './attempt.ts';
import { remediate } from './case.ts';
import { daysAgo, grype, IMAGE } from './reports.ts';

/** More routes, most of them small. */
export const own: readonly Attempt[] = [
  {
    name: 'add an artifact after the approval',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approval_stale'],
    async run(one) {
      const item = await remediate(one);
      await one.approve(item);
      await one.artifact(item);
      return item;
    },
  },
  {
    name: 'remove an artifact after the approval',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approval_stale', 'artifact_removed'],
    async run(one) {
      const item = await remediate(one);
      const artifact = await one.artifact(item);
      await one.approve(item);
      await one.call('worker', 'DELETE', `/riskops-evidence/artifacts/${artifact}?reason=embarrassing`);
      return item;
    },
  },
  {
    name: 'change the title after the approval',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approval_stale'],
    async run(one) {
      const item = await remediate(one);
      await one.approve(item);
      await one.call('worker', 'PATCH', `/work-items/${item}`, { title: 'REMEDIATED – GRADE A' });
      return item;
    },
  },
  {
    name: 'have the work approved before it is verified',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approval_stale'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      await one.approve(item);
      await one.scan({ weaknesses: [], build: 2 });
      return item;
    },
  },
  {
    name: 'assign the approver after the approval',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['approver_took_part'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.call('lead', 'PATCH', `/work-items/${item}`, { assignee: one.team.members.approver.email });
      await one.call('lead', 'PATCH', `/work-items/${item}`, { assignee: one.team.members.worker.email });
      await one.claim(item);
      await one.scan({ weaknesses: [2], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'let the worker upload the rescan',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 }, { by: 'worker' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'reassign the work before the worker uploads the rescan',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.call('lead', 'PATCH', `/work-items/${item}`, { assignee: one.team.members.lead.email });
      await one.call('lead', 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
      await one.scan({ weaknesses: [], build: 2 }, { by: 'worker' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'call a partial scan the rescan',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 }, { scope: { coverage: 'partial' } });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'date the rescan in the future',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2, at: daysAgo(-30) });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'end the environment that has the finding',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      const { asset } = await one.oneFinding(1);
      await one.call('worker', 'DELETE', `/assets/${asset.id}/tracks/prod?reason=gone`);
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'verify by a second person without a rescan',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['no_rescan'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const { id } = await one.oneFinding(1);
      await one.call('scanner', 'PATCH', `/findings/${id}`, { status: 'verified', reason: 'looked at it' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'lower the severity, and restore it before sealing',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['sla_missed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(40) });
      const item = await one.item(1);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/findings/${id}`, { severity: 'info', reason: 'not exposed' });
      await one.artifact(item);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.call('worker', 'PATCH', `/findings/${id}`, { severity: null, reason: 'as it was' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'attach a file of one byte as the proof of the change',
    conclusion: 'remediated',
    grade: 'B',
    gaps: ['no_artifact'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item, 'worker', 'x');
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'upload the rescan with a key that belongs to nobody',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_by_worker'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      await one.upload(grype({ weaknesses: [], build: 2, image: IMAGE }), { by: await one.ownerlessKey() });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'approve with a key that belongs to nobody',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      await one.approve(item, await one.ownerlessKey());
      return item;
    },
  },
  {
    name: 'open the work item and approve it with two keys that belong to nobody',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const { id } = await one.oneFinding(1);
      const { id: item } = await one.call(await one.ownerlessKey(), 'POST', '/work-items', { title: 'Update the shop', finding_ids: [id] });
      await one.artifact(item);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item, await one.ownerlessKey());
      return item;
    },
  },
];
