import { semgrep } from './code-tools.ts';
import { zap } from './network-tools.ts';
import { grype, trivyImage, trivyRepository } from './package-tools.ts';
import { type Scan, timeOf } from './scan.ts';
import type { TruthCase } from './trial.ts';

/** Histories with decisions of people about findings, tracks and sources. */

const all: Scan = { found: [0, 1, 2, 3], day: 1 };
const fixed: Scan = { found: [1, 2, 3], day: 8 };
const inMonths = (months: number): string => new Date(Date.now() + months * 30 * 86_400_000).toISOString();
const acceptance = { status: 'risk_accepted', reason: 'not reachable', owner: 'Ada', expires_at: inMonths(6) };
const falsePositive = { status: 'false_positive', reason: 'not used', justification: 'code_not_reachable' };
const claim = { status: 'remediated', reason: 'updated' };

export const decidedHistories: readonly TruthCase[] = [
  {
    name: 'an accepted risk that is gone',
    tool: trivyImage,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan, decide }) => {
      await scan(trivyImage, all);
      await decide(trivyImage, 0, acceptance);
      await scan(trivyImage, fixed);
    },
  },
  {
    name: 'an accepted risk that a pull request no longer has',
    tool: trivyImage,
    expected: { 0: 'risk_accepted' },
    run: async ({ scan, decide }) => {
      await scan(trivyImage, all);
      await decide(trivyImage, 0, acceptance);
      await scan(trivyImage, { ...fixed, tag: 'pr-3' });
    },
  },
  {
    name: 'an accepted risk that is back before its end',
    tool: grype,
    expected: { 0: 'risk_accepted' },
    run: async ({ scan, decide }) => {
      await scan(grype, all);
      await decide(grype, 0, acceptance);
      await scan(grype, fixed);
      await scan(grype, { ...all, day: 9 });
    },
  },
  {
    name: 'a false positive that is gone',
    tool: semgrep,
    expected: { 0: 'false_positive' },
    run: async ({ scan, decide }) => {
      await scan(semgrep, all);
      await decide(semgrep, 0, falsePositive);
      await scan(semgrep, fixed);
    },
  },
  {
    name: 'a false positive at a new place',
    tool: zap,
    expected: { 0: 'open' },
    run: async ({ scan, decide }) => {
      await scan(zap, all);
      await decide(zap, 0, falsePositive);
      await scan(zap, { ...all, day: 8, path: (n) => `/admin${n}` });
    },
  },
  {
    name: 'a false positive of a library that appears in another folder',
    tool: trivyRepository,
    expected: { 0: 'open' },
    run: async ({ scan, decide }) => {
      await scan(trivyRepository, { ...all, path: (n) => `srv/test/lib${n}.jar` });
      await decide(trivyRepository, 0, falsePositive);
      await scan(trivyRepository, { ...all, day: 8, path: (n) => `srv/prod/lib${n}.jar` });
    },
  },
  {
    name: 'a claim, and a scan from before it',
    tool: grype,
    expected: { 0: 'remediated' },
    run: async ({ scan, decide }) => {
      await scan(grype, all);
      await decide(grype, 0, claim);
      await scan(grype, fixed);
    },
  },
  {
    name: 'a claim, and a scan of this moment',
    tool: grype,
    expected: { 0: 'verified' },
    run: async ({ scan, decide }) => {
      await scan(grype, all);
      await decide(grype, 0, claim);
      const now = new Date(Date.now() + 60_000).toISOString();
      await scan(grype, fixed, { edit: (text) => text.replace(timeOf({ day: 8 }).toISOString(), now) });
    },
  },
  {
    name: 'a claim on one track that was proven before, and another track that is ended',
    tool: trivyImage,
    expected: { 0: 'remediated' },
    run: async ({ scan, decide, request, found }) => {
      await scan(trivyImage, { ...all, tag: 'prod' });
      await scan(trivyImage, { ...all, day: 2, tag: 'staging' });
      await scan(trivyImage, { ...fixed, tag: 'prod' });
      await decide(trivyImage, 0, claim);
      await request('DELETE', `/assets/${(await found(trivyImage, 0)).asset.id}/tracks/staging?reason=old`);
    },
  },
  {
    name: 'a track that a person ends',
    tool: trivyImage,
    expected: { 0: 'withdrawn' },
    run: async ({ scan, request, found }) => {
      await scan(trivyImage, { ...all, tag: 'staging' });
      await request('DELETE', `/assets/${(await found(trivyImage, 0)).asset.id}/tracks/staging?reason=old`);
    },
  },
  {
    name: 'retiring the tool that still shows it',
    tool: grype,
    expected: { 0: 'withdrawn' },
    run: async ({ scan, request, found }) => {
      await scan(trivyImage, all);
      await scan(trivyImage, fixed);
      await scan(grype, { ...all, day: 9 });
      const finding = await request('GET', `/findings/${(await found(grype, 0)).id}`);
      const source = (finding.sightings as { source: { id: string }; state: string }[]).find(({ state }) => state === 'present');
      await request('POST', `/sources/${source?.source.id}/retire`, { reason: 'not used any more' });
    },
  },
];
