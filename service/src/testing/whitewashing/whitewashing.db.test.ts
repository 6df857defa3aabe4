import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFormatsAgree, expectReportAgrees, pdfWords } from '../evidence/agreement.ts';
import { usePackages } from '../evidence/packages.ts';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../fakes/identity-provider.ts';
import { behindProxy } from '../people.ts';
import { apart } from './apart.ts';
import type { Attempt } from './attempt.ts';
import { type Case, remediate, startCase } from './case.ts';
import { classic } from './classic.ts';
import { delivery } from './delivery.ts';
import { disguise } from './disguise.ts';
import { further } from './further.ts';
import { own } from './own.ts';
import { relabel } from './relabel.ts';
import { daysAgo, IMAGE } from './reports.ts';
import { restored } from './restored.ts';
import { rules } from './rules.ts';
import { vanish } from './vanish.ts';

const config: Record<string, string> = { ...behindProxy, RRS_OUTBOUND_ALLOW: '127.0.0.0/8' };
let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
  Object.assign(config, { RRS_OIDC_ISSUER: provider.issuer, RRS_OIDC_AUDIENCE: AUDIENCE });
});
const world = usePackages({ idle: true, config });
afterAll(() => provider?.stop());

const attempts = [...classic, ...further, ...rules, ...own, ...delivery, ...disguise, ...relabel, ...restored, ...apart, ...vanish];
/** Drawing a PDF takes longer than all other formats, so there is one for each combination of conclusion, grade and standings. */
const drawn = new Set<string>();

async function expectTruth({ run, conclusion, grade, gaps, closedBefore }: Attempt): Promise<void> {
  const one = await startCase(world);
  const item = await run(one);
  const stated = await one.preview(item);
  const codes = stated.completeness.gaps.map(({ code, weight }) => `${code} ${weight}`);
  const missing = gaps.filter((gap) => !codes.some((code) => code.startsWith(`${gap} `)));
  expect({ conclusion: stated.conclusion, grade: stated.completeness.grade, codes, missing }).toEqual({ conclusion, grade, codes, missing: [] });
  const evidence = await one.evidence(item);
  expect({ conclusion: evidence.conclusion, grade: evidence.completeness.grade }).toEqual({ conclusion, grade });
  expectFormatsAgree(evidence);
  const { active, excepted, remediated } = evidence.counts.by_standing;
  const { status } = await one.call<{ status: string }>('lead', 'GET', `/work-items/${item}`);
  const closed = remediated > 0 && excepted === 0 ? 'verified' : 'closed_with_exceptions';
  expect(['open', 'in_progress', 'awaiting_verification'].includes(status) ? 'open' : status).toBe(closedBefore ? 'verified' : active > 0 ? 'open' : closed);
  const outcome = JSON.stringify([conclusion, grade, evidence.findings.map(({ standing, state, cause }) => `${standing} ${state} ${cause}`).sort()]);
  if (drawn.has(outcome)) return;
  drawn.add(outcome);
  expect(await one.refusals(item)).toEqual([]);
  expectReportAgrees(evidence, await pdfWords(evidence));
}

it('work that was done as it should be is remediated, with small gaps only', async () => {
  const one = await startCase(world);
  const item = await remediate(one);
  expect(await one.approve(item)).toMatchObject({ status: 201, body: { independent: true } });
  const { conclusion, completeness } = await one.preview(item);
  expect({ conclusion, grade: completeness.grade, gaps: completeness.gaps.filter(({ weight }) => weight === 'major') }).toEqual({
    conclusion: 'remediated',
    grade: 'B',
    gaps: [],
  });
});

describe('work that a scan verifies that cannot be believed', () => {
  /** A clean scan of another image, which the uploader calls production. */
  const relabelled = { weaknesses: [], image: 'registry.example/scratch:prod', build: 2 };
  const asProduction = { scope: { asset: { type: 'container_image', name: IMAGE }, track: 'prod' } };

  it('stays open until another scan verifies it, with and without a claim', async () => {
    for (const isClaimed of [true, false]) {
      const one = await startCase(world);
      const stateOf = async () => {
        const { status, findings } = await one.call<{ status: string; findings: Record<string, number> }>('lead', 'GET', `/work-items/${item}`);
        const { conclusion } = await one.preview(item);
        return { status, conclusion, verified: findings.verified, remediated: findings.remediated };
      };
      await one.scan({ weaknesses: [1], at: daysAgo(3) });
      const item = await one.item(1);
      if (isClaimed) await one.claim(item);
      const doubtful = { status: 'awaiting_verification', conclusion: 'not_remediated', verified: 0, remediated: 1 };
      await one.scan(relabelled, asProduction);
      expect(await stateOf()).toEqual(doubtful);
      // Another one of the same kind proves nothing either.
      await one.scan({ ...relabelled, build: 3 }, asProduction);
      expect(await stateOf()).toEqual(doubtful);
      const { id } = await one.scan({ weaknesses: [], build: 4 });
      expect(await stateOf()).toEqual({ status: 'verified', conclusion: 'remediated', verified: 1, remediated: 0 });
      const [finding] = (await one.evidence(item)).findings;
      expect(finding).toMatchObject({ state: 'verified', assurance: isClaimed ? 'scan_after_claim' : 'scan_only', after: { state: 'absent', scan: id } });
    }
  });

  it('goes on when a scan sees the finding again', async () => {
    const one = await startCase(world);
    await one.scan({ weaknesses: [1], at: daysAgo(3) });
    const item = await one.item(1);
    await one.scan({ ...relabelled, at: daysAgo(2) }, asProduction);
    await one.scan({ weaknesses: [1], build: 1, at: daysAgo(1) });
    expect(await one.call('lead', 'GET', `/work-items/${item}`)).toMatchObject({ status: 'in_progress', findings: { open: 1, remediated: 0 } });
    await one.scan({ weaknesses: [], build: 4 });
    expect(await one.call('lead', 'GET', `/work-items/${item}`)).toMatchObject({ status: 'verified' });
  });
});

describe.concurrent('evidence tells the truth if somebody tries to', { timeout: 120_000 }, () => {
  it.each(attempts)('$name', (attempt) => expectTruth(attempt));
});

it('one person with two accounts at the identity provider is taken on trust, and the package names both accounts', async () => {
  const one = await startCase(world);
  const tokenOf = async (sub: string, email: string) => ({
    key: await provider.forge({ organization: one.team.slug, sub, email, email_verified: true, role: 'analyst', name: 'Ada Lovelace' }),
  });
  const [work, home] = [await tokenOf('work|ada', 'ada@work.example'), await tokenOf('home|ada', 'ada@home.example')];
  await one.scan({ weaknesses: [1], at: daysAgo(3) });
  const { id: item } = await one.call(work, 'POST', '/work-items', { title: 'Update the shop', finding_ids: [(await one.oneFinding(1)).id] });
  await one.artifact(item);
  await one.call(work, 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
  await one.scan({ weaknesses: [], build: 2 });
  expect(await one.approve(item, home)).toMatchObject({ status: 201, body: { independent: true } });
  const { conclusion, completeness, people } = await one.evidence(item);
  expect({ conclusion, grade: completeness.grade }).toEqual({ conclusion: 'remediated', grade: 'B' });
  const accounts = people.filter(({ name }) => name === 'Ada Lovelace');
  expect(accounts.map(({ signs_in_with }) => signs_in_with)).toEqual(['sso', 'sso']);
});

it('the next release counts if the scans before and after are both labelled as production', async () => {
  const one = await startCase(world);
  await one.scan({ weaknesses: [1], image: 'registry.example/shop:1.0.0', at: daysAgo(3) }, { scope: { track: 'prod' } });
  const item = await one.item(1);
  await one.scan({ weaknesses: [], image: 'registry.example/shop:1.0.1', build: 2 }, { scope: { track: 'prod' } });
  expect(await one.preview(item)).toMatchObject({ conclusion: 'remediated' });
});

describe.each([
  ['as it should be', async (one: Case) => remediate(one)],
  ['with a finding that was withdrawn by hand', (one: Case) => attemptNamed('withdraw a finding by hand').run(one)],
  [
    'with rescans of two scanners',
    (one: Case) => attemptNamed('let the worker upload the rescan of the scanner that still sees it, next to that of another one').run(one),
  ],
] as const)('a package of work that was done %s', (_, run) => {
  it('verifies, and states what its preview stated', async () => {
    const one = await startCase(world);
    const item = await run(one);
    const { conclusion, completeness } = await one.preview(item);
    const sealed = await one.seal(item);
    expect(sealed).toMatchObject({ status: 'ready', error: null, conclusion, completeness });
  });
});

it('a package that is requested without the report has the register of decisions all the same', async () => {
  const one = await startCase(world);
  const item = await attemptNamed('withdraw a finding by hand').run(one);
  const { package_id, status, files } = await one.seal(item, ['csv']);
  expect(status).toBe('ready');
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['data/evidence.json', 'data/findings.jsonl', 'data/audit-trail.jsonl', 'data/report.html']),
  );
  expect(await one.download(package_id, 'html')).toContain('not relevant');
});

it('a good package is superseded when a scan shows the finding again, and its status statement says so', async () => {
  const one = await startCase(world);
  const item = await remediate(one);
  const { package_id, conclusion } = await one.seal(item);
  expect(conclusion).toBe('remediated');
  await one.scan({ weaknesses: [1, 10], build: 3 });
  expect(await one.call('lead', 'GET', `/riskops-evidence/packages/${package_id}`)).toMatchObject({ status: 'superseded' });
  const statement = await one.call<{ payload: string }>('lead', 'GET', `/riskops-evidence/packages/${package_id}/status-statement`);
  expect(JSON.parse(Buffer.from(statement.payload, 'base64').toString())).toMatchObject({ predicate: { package_id, status: 'superseded' } });
});

function attemptNamed(name: string): Attempt {
  const found = attempts.find((attempt) => attempt.name === name);
  if (!found) throw new Error(`no attempt is named "${name}"`);
  return found;
}
