import type { Attempt } from './attempt.ts';
import { remediate } from './case.ts';
import { signInAndChange } from './people.ts';
import { daysAgo, grype, IMAGE, trivy } from './reports.ts';

const many = Array.from({ length: 60 }, (_, n) => n + 20);
const NEW_PASSWORD = 'a password that the lead has chosen';

/** Routes that remain if only the first ones are closed. */
export const further: readonly Attempt[] = [
  {
    name: 'add a second member and approve as that member',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      const email = `new@${one.team.slug}.example`;
      await one.call('lead', 'POST', '/members', { email, name: 'Independent Auditor', role: 'admin', password: NEW_PASSWORD });
      await one.approve(item, await signInAndChange(one.api, email, NEW_PASSWORD));
      return item;
    },
  },
  {
    name: "reset a colleague's password and approve as that colleague",
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      const { id, email } = one.team.members.scanner;
      await one.call('lead', 'PATCH', `/members/${id}`, { password: NEW_PASSWORD });
      await one.approve(item, await signInAndChange(one.api, email, NEW_PASSWORD));
      return item;
    },
  },
  {
    name: 'scan a release that is not in use',
    conclusion: 'not_remediated',
    grade: 'C',
    closedBefore: true,
    gaps: ['unfinished', 'clock_reset'],
    async run(one) {
      await one.scan({ weaknesses: [1], image: 'registry.example/shop:1.0.0', at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], image: 'registry.example/shop:1.99.0', build: 2 });
      await one.scan({ weaknesses: [1], image: 'registry.example/shop:1.0.0' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'label the scan of another image as that of production',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      await one.scan({ weaknesses: [], image: 'registry.example/scratch:prod', build: 2 }, { scope });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'send an earlier clean report again with a new date',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_copied'],
    async run(one) {
      await one.scan({ weaknesses: [], build: 2, at: daysAgo(9) });
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'retire the second scanner, which still sees the finding',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['source_removed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      await one.upload(trivy({ weaknesses: [1], at: daysAgo(3) }), { format: 'trivy' });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      const { data } = await one.call<{ data: { id: string; tool: string; provider: string }[] }>('lead', 'GET', '/sources');
      const second = data.find(({ provider }) => provider === 'trivy');
      await one.call('worker', 'POST', `/sources/${second?.id}/retire`, { reason: 'not used any more' });
      await one.approve(item);
      return item;
    },
  },
  {
    // The scan reopens the finding although the rest of the import is discarded. A later scan of another build then proves the fix.
    name: 'discard the import that still shows a finding, and scan another build',
    conclusion: 'remediated',
    grade: 'B',
    gaps: ['clock_reset'],
    async run(one) {
      await one.scan({ weaknesses: [1, ...many], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const held = await one.scan({ weaknesses: [1], build: 2 });
      if (held.status !== 'needs_confirmation') throw new Error(`the import is ${held.status}`);
      await one.call('worker', 'POST', `/imports/${held.id}/discard`);
      await one.scan({ weaknesses: many, build: 3 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'cut off the report that still shows a finding, so that its import fails, and scan the same build again',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['scan_failed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.upload(grype({ weaknesses: [1], build: 2 }).slice(0, -40));
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'play the worker and the approver with two members that one has added',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      const [first, second] = [`first@${one.team.slug}.example`, `second@${one.team.slug}.example`];
      for (const email of [first, second]) await one.call('owner', 'POST', '/members', { email, name: email, role: 'analyst', password: NEW_PASSWORD });
      const puppet = await signInAndChange(one.api, first, NEW_PASSWORD);
      await one.call(puppet, 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item, await signInAndChange(one.api, second, NEW_PASSWORD));
      return item;
    },
  },
  {
    name: 'merge the open finding into one that is fixed',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['unfinished', 'withdrawn_by_person'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2], at: daysAgo(3) });
      const item = await one.item(1, 2);
      await one.claim(item);
      await one.scan({ weaknesses: [2], build: 2 });
      const [fixed, open] = [await one.oneFinding(1), await one.oneFinding(2)];
      await one.call('worker', 'POST', `/findings/${open.id}/merge`, { into: fixed.id, reason: 'the same weakness' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'open a new work item with only the fixed findings',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['other_open_on_asset'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2], at: daysAgo(3) });
      const first = await one.item(1, 2);
      await one.claim(first);
      await one.scan({ weaknesses: [2], build: 2 });
      const item = await one.item(1);
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'move the open finding to another work item',
    conclusion: 'remediated',
    grade: 'D',
    gaps: ['unlinked_active'],
    async run(one) {
      await one.scan({ weaknesses: [1, 2], at: daysAgo(3) });
      const item = await one.item(1, 2);
      const { id } = await one.oneFinding(2);
      await one.call('worker', 'DELETE', `/work-items/${item}/findings/${id}`);
      await one.item(2);
      await one.claim(item);
      await one.scan({ weaknesses: [2], build: 2 });
      await one.approve(item);
      return item;
    },
  },
];
