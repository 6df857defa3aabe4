import type { Attempt } from './attempt.ts';
import { remediate } from './case.ts';
import { daysAgo, IMAGE } from './reports.ts';

const SCRATCH = 'registry.example/scratch:prod';
const STAGING = 'registry.example/shop:staging';

/** Routes that disguise what was scanned. */
export const relabel: readonly Attempt[] = [
  {
    name: 'label the scan of another image as that of production, twice',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      await one.scan({ weaknesses: [20], image: SCRATCH, build: 3 }, { scope: { ...scope, coverage: 'partial' } });
      await one.scan({ weaknesses: [], image: SCRATCH, build: 2 }, { scope });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'label the scan of staging as that of production',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], image: STAGING, build: 2 }, { scope: { track: 'prod' } });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'merge the asset with a clean one, and scan that one',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      await one.scan({ weaknesses: [20], image: SCRATCH, build: 5, at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const [shop, scratch] = [(await one.oneFinding(1)).asset, (await one.oneFinding(20)).asset];
      await one.call('lead', 'POST', `/assets/${scratch.id}/merge`, { into: shop.id, reason: 'two names of one image' });
      await one.scan({ weaknesses: [20], image: SCRATCH, build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'merge production with staging, and scan staging',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      await one.scan({ weaknesses: [20], image: STAGING, build: 5, at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const { asset } = await one.oneFinding(1);
      await one.call('lead', 'POST', `/assets/${asset.id}/tracks/prod/merge`, { into: 'staging', reason: 'one environment' });
      await one.scan({ weaknesses: [20], image: STAGING, build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'label scans of another image as those of production, with the finding and without it',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      const scope = { asset: { type: 'container_image', name: IMAGE }, track: 'prod' };
      await one.scan({ weaknesses: [1], image: SCRATCH, build: 3, at: daysAgo(1) }, { scope });
      await one.claim(item);
      await one.scan({ weaknesses: [], image: SCRATCH, build: 2 }, { scope });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'call production staging, and scan staging',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      await one.scan({ weaknesses: [20], image: STAGING, build: 5, at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      const { asset } = await one.oneFinding(1);
      await one.call('lead', 'PATCH', `/assets/${asset.id}/tracks/staging`, { name: 'old' });
      await one.call('lead', 'PATCH', `/assets/${asset.id}/tracks/prod`, { name: 'staging' });
      await one.scan({ weaknesses: [20], image: STAGING, build: 2 });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'rename the track of production, and approve the work',
    conclusion: 'remediated',
    grade: 'C',
    gaps: ['approver_took_part'],
    async run(one) {
      const item = await remediate(one);
      const { asset } = await one.oneFinding(1);
      await one.call('approver', 'PATCH', `/assets/${asset.id}/tracks/prod`, { name: 'live' });
      await one.approve(item);
      return item;
    },
  },
  {
    name: 'label a release that is not in use as production',
    conclusion: 'not_remediated',
    grade: 'D',
    gaps: ['scan_self_described'],
    async run(one) {
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      await one.claim(item);
      await one.scan({ weaknesses: [], image: 'registry.example/shop:1.99.0', build: 2 }, { scope: { track: 'prod' } });
      await one.approve(item);
      return item;
    },
  },
];
