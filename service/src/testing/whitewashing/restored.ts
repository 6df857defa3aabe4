import type { Attempt } from './attempt.ts';
import { cve, daysAgo, grype, IMAGE } from './reports.ts';

/** Routes that change something for a while, or many things at once. */
export const restored: readonly Attempt[] = [
  {
    name: 'dismiss everything that a filter selects',
    conclusion: 'partially_remediated',
    grade: 'C',
    gaps: ['exception_self_decided'],
    async run(one) {
      await one.scan({ weaknesses: [1, 10], at: daysAgo(3) });
      const item = await one.item(1, 10);
      await one.artifact(item);
      await one.claim(item);
      const change = { status: 'false_positive', reason: 'not reachable', justification: 'code_not_reachable' };
      await one.call('worker', 'POST', '/findings/bulk', { filter: { severity: ['critical'] }, change });
      await one.scan({ weaknesses: [1], build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'loosen the policy after the approval, and tighten it again before sealing',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['policy_loosened', 'sla_missed'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(60) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      await one.scan({ weaknesses: [], build: 2 });
      await one.approve(item);
      await one.call('owner', 'PATCH', '/organization', { policy: { sla: { critical: 300 } } });
      await one.call('owner', 'PATCH', '/organization', { policy: { sla: null } });
      return item;
    },
  },
  {
    name: 'try the clean report without importing it',
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const query = new URLSearchParams({ format: 'grype', dry_run: 'true', scan_scope: JSON.stringify({ coverage: 'complete' }) });
      await one.runImport(await one.call('scanner', 'POST', `/imports?${query}`, Buffer.from(grype({ weaknesses: [], build: 2 }))));
      await one.approve(item);
      return item;
    },
  },
  {
    name: "state in a VEX document of one's own that the finding does not affect the image",
    conclusion: 'not_remediated',
    grade: 'C',
    gaps: ['unfinished'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.artifact(item);
      await one.claim(item);
      const at = daysAgo(0).toISOString();
      const statement = { vulnerability: { name: cve(1) }, products: [{ '@id': 'pkg:deb/debian/lib1@1.1' }], status: 'fixed', timestamp: at };
      const document = { '@context': 'https://openvex.dev/ns/v0.2.0', '@id': 'https://shop.example/vex', author: 'shop', timestamp: at, version: 1 };
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      await one.upload(JSON.stringify({ ...document, statements: [statement] }), { by: 'worker', format: 'openvex', scope });
      await one.approve(item);
      return item;
    },
  },
];
