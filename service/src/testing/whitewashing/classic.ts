import type { Attempt } from './attempt.ts';
import { type Case, remediate } from './case.ts';
import { daysAgo, IMAGE } from './reports.ts';

const OTHER_IMAGE = 'registry.example/api:prod';
const EMPTY = '{"findings":[]}';
const many = Array.from({ length: 60 }, (_, n) => n + 20);

async function approved(one: Case, item: string): Promise<string> {
  await one.approve(item);
  return item;
}

/** The routes that an auditor found in the first version. */
export const classic: readonly Attempt[] = [
  {
    name: 'retire the asset of the open findings, and take that back afterwards',
    conclusion: 'partially_remediated',
    grade: 'D',
    gaps: ['withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2], image: OTHER_IMAGE, at: daysAgo(3) });
      await one.scan({ weaknesses: [20], at: daysAgo(3) });
      const item = await one.item(1, 2, 20);
      await one.claim(item);
      const { asset } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/assets/${asset.id}`, { retired: true });
      await one.scan({ weaknesses: [], build: 2 });
      await one.call('worker', 'PATCH', `/assets/${asset.id}`, { retired: false });
      return approved(one, item);
    },
  },
  {
    name: 'withdraw a finding by hand',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/findings/${id}`, { status: 'withdrawn', reason: 'not relevant' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      return approved(one, item);
    },
  },
  {
    name: 'remove a finding from the work item and call it a false positive',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['unlinked_excepted'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'DELETE', `/work-items/${item}/findings/${id}`);
      await one.call('worker', 'PATCH', `/findings/${id}`, { status: 'false_positive', justification: 'code_not_reachable' });
      await one.claim(item);
      await one.scan({ weaknesses: [1], build: 2 });
      return approved(one, item);
    },
  },
  {
    name: 'lower the severity',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['severity_lowered'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/findings/${id}`, { severity: 'info', reason: 'not exposed' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      return approved(one, item);
    },
  },
  {
    name: 'upload an older report as the rescan',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2, at: daysAgo(5) });
      return approved(one, item);
    },
  },
  {
    name: 'stretch the deadline before sealing',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['policy_loosened', 'sla_missed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(60) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.call('owner', 'PATCH', '/organization', { policy: { sla: { critical: 3650 } } });
      return approved(one, item);
    },
  },
  {
    name: 'have an empty work item approved and add the findings later',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approval_stale'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const { id: item } = await one.call('lead', 'POST', '/work-items', { title: 'Nothing to see' });
      await approved(one, item);
      const { id } = await one.oneFinding(1);
      await one.call('lead', 'POST', `/work-items/${item}/findings`, { finding_ids: [id] });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      return item;
    },
  },
  {
    name: 'approve with a second API key of whoever opened the work item',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      const { key } = await one.call<{ key: string }>('lead', 'POST', '/api-keys', { name: 'Head of Security', role: 'analyst' });
      await one.approve(item, { key });
      return item;
    },
  },
  {
    name: 'approve after lowering a severity, withdrawing a finding and uploading the rescan',
    conclusion: 'partially_remediated',
    grade: 'D',
    gaps: ['approver_took_part', 'severity_lowered', 'withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2, 10], at: daysAgo(3) });
      const item = await one.item(1, 2, 10);
      const [first, second] = [await one.oneFinding(1), await one.oneFinding(2)];
      await one.call('approver', 'PATCH', `/findings/${first.id}`, { severity: 'low', reason: 'not exposed' });
      await one.call('approver', 'PATCH', `/findings/${second.id}`, { status: 'withdrawn', reason: 'not relevant' });
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 }, { by: 'approver' });
      return approved(one, item);
    },
  },
  {
    name: 'approve after uploading the rescan, and nothing else',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 }, { by: 'approver' });
      return approved(one, item);
    },
  },
  {
    name: 'close many findings with an empty file that the worker uploads and confirms',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described', 'scan_by_worker', 'brake_confirmed'],
    async run(one) {
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      const records = many.map((n) => ({
        title: `Weakness ${n}`,
        severity: 'critical',
        cves: [`CVE-2025-${10_000 + n}`],
        component: `lib${n}`,
        version: '1.0',
      }));
      await one.upload(JSON.stringify(records), { format: 'generic', scope: { ...scope, started_at: daysAgo(3).toISOString() } });
      const item = await one.item(...many);
      await one.claim(item);
      const held = await one.upload(EMPTY, { by: 'worker', format: 'generic', scope });
      if (held.status !== 'needs_confirmation') throw new Error(`the import is ${held.status}`);
      await one.call('worker', 'POST', `/imports/${held.id}/confirm`);
      return approved(one, item);
    },
  },
  {
    name: 'state "fixed" in a report of one\'s own',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      const record = { title: 'Weakness 1', severity: 'critical', cves: ['CVE-2025-10001'], component: 'lib1', version: '1.1', status: 'fixed' };
      const scope = { coverage: 'partial', asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      await one.upload(JSON.stringify([record]), { by: 'worker', format: 'generic', scope });
      return approved(one, item);
    },
  },
  {
    name: 'pick one of several critical findings of an image',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['other_open_on_asset'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2, 3], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [2, 3], build: 2 });
      return approved(one, item);
    },
  },
];
