import type { Attempt } from './attempt.ts';
import { remediate } from './case.ts';
import { cve, daysAgo, grype, trivy } from './reports.ts';

const many = Array.from({ length: 60 }, (_, n) => n + 20);

/** Routes that bend the rules: policy, ranking, exceptions. */
export const rules: readonly Attempt[] = [
  {
    name: 'switch the four-eyes policy off for the approval of whoever opened the work item',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['approver_took_part', 'policy_loosened'],
    async run(one) {
      await one.call('owner', 'PATCH', '/organization', { policy: { four_eyes: true } });
      const item = await remediate(one);
      await one.call('owner', 'PATCH', '/organization', { policy: { four_eyes: false } });
      await one.approve(item, 'lead');
      await one.call('owner', 'PATCH', '/organization', { policy: { four_eyes: true } });
      return item;
    },
  },
  {
    name: 'switch the four-eyes policy off and leave the approval out',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['no_approval'],
    async run(one) {
      await one.call('owner', 'PATCH', '/organization', { policy: { four_eyes: true } });
      const item = await remediate(one);
      await one.call('owner', 'PATCH', '/organization', { policy: { four_eyes: false } });
      return item;
    },
  },
  {
    name: 'raise the brake for one import',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['policy_loosened'],
    async run(one) {
      await one.scan({ weaknesses: many, at: daysAgo(3) });
      const item = await one.item(...many);
      await one.claim(item);
      await one.call('owner', 'PATCH', '/organization', { policy: { brake: { count: 1_000, share: 1 } } });
      await one.scan({ weaknesses: [], build: 2 });
      await one.call('owner', 'PATCH', '/organization', { policy: { brake: null } });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'prefer the tool that rates the finding lower',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['sla_missed'],
    async run(one) {
      await one.upload(trivy({ weaknesses: [1], at: daysAgo(40) }), { format: 'trivy' });
      const mild = grype({ weaknesses: [1], at: daysAgo(40) }).replace('"Critical"', '"Low"');
      await one.upload(mild);
      await one.call('owner', 'PATCH', '/organization', { policy: { source_ranking: ['grype', 'trivy'] } });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.upload(trivy({ weaknesses: [], build: 2 }), { format: 'trivy' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'enter an old finding again by hand, so that its deadline starts later',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['unfinished', 'no_scan_before'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(40) });
      const { asset } = await one.oneFinding(1);
      const { id } = await one.call('worker', 'POST', '/findings', { title: 'lib1 again', severity: 'critical', cves: [cve(1)], asset_id: asset.id });
      const { id: item } = await one.call('lead', 'POST', '/work-items', { title: 'By hand', finding_ids: [id] });
      await one.claim(item);
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'accept the risk oneself',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['exception_self_decided'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      const { id } = await one.oneFinding(1);
      const acceptance = { status: 'risk_accepted', reason: 'too much work', owner: 'worker', expires_at: daysAgo(-30).toISOString() };
      await one.call('worker', 'PATCH', `/findings/${id}`, acceptance);
      await one.claim(item);
      await one.scan({ weaknesses: [1], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'call everything a false positive oneself',
    conclusion: 'false_positive',
    grade: 'C',
    gaps: ['exception_self_decided'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.call('worker', 'PATCH', `/work-items/${item}`, { status: 'in_progress' });
      const { id } = await one.oneFinding(1);
      await one.call('worker', 'PATCH', `/findings/${id}`, { status: 'false_positive', justification: 'code_not_reachable' });
      await one.approve(item);
      return item;
    },
  },
];
