import type { Random } from '../truth/random.ts';
import type { Case, ListedFinding } from '../whitewashing/case.ts';
import type { PersonName } from '../whitewashing/people.ts';
import { cve, daysAgo, grype, IMAGE, trivy } from '../whitewashing/reports.ts';

/** An organization in which people do what comes to their minds. */
export interface Life {
  one: Case;
  random: Random;
  item: string;
  /** How many days ago it is now for the scanners. */
  day: number;
  /** Keys that somebody created. */
  keys: { key: string }[];
}

/** Something that somebody tries. The service may refuse it. */
export type Act = (life: Life) => Promise<unknown>;

export const WEAKNESSES = [1, 2, 10, 11, 20] as const;
const IMAGES = [IMAGE, 'registry.example/api:prod', 'registry.example/shop:staging'] as const;
const PEOPLE = ['owner', 'lead', 'worker', 'scanner', 'approver'] as const;
/** Everybody who is not removed. */
const STAYING = ['owner', 'lead', 'worker', 'approver'] as const;
const ADVISORY = 'GHSA-2222-3333-4444';

const somebody = ({ random, keys }: Life): PersonName | { key: string } => {
  const [first, ...more] = keys;
  return first && random.chance(0.2) ? random.pick([first, ...more]) : random.pick(PEOPLE);
};
const tried =
  (method: string, path: string, body?: object): Act =>
  (life) =>
    life.one.attempt(somebody(life), method, path, body);

async function aFinding({ one, random }: Life): Promise<ListedFinding | undefined> {
  return random.shuffled(await one.findings(...WEAKNESSES))[0];
}
const toFinding =
  (method: string, path: (id: string) => string, body: (life: Life) => object): Act =>
  async (life) => {
    const finding = await aFinding(life);
    return finding && tried(method, path(finding.id), body(life))(life);
  };
const change = (body: object): Act =>
  toFinding(
    'PATCH',
    (id) => `/findings/${id}`,
    () => body,
  );
const toAsset =
  (method: string, path: (id: string) => string, body: (life: Life) => object): Act =>
  async (life) => {
    const finding = await aFinding(life);
    return finding && tried(method, path(finding.asset.id), body(life))(life);
  };

/** A report of one day, sometimes one that arrives late, or under the name that a second database has for the weakness. */
const scan: Act = async (life) => {
  const { random, one } = life;
  life.day = Math.max(0.1, life.day - 1);
  const late = random.chance(0.15) ? random.number(5) : 0;
  const facts = {
    weaknesses: random.shuffled(WEAKNESSES).slice(0, random.number(WEAKNESSES.length + 1)),
    image: random.pick(IMAGES),
    at: daysAgo(life.day + late),
    build: random.number(10),
  };
  const [format, text] = random.chance(0.7) ? (['grype', grype(facts)] as const) : (['trivy', trivy(facts)] as const);
  const scope = random.chance(0.15) ? { track: random.pick(['prod', 'staging']) } : random.chance(0.1) ? { coverage: 'partial' } : {};
  const { id, status } = await one.upload(random.chance(0.1) ? text.replaceAll(cve(1), ADVISORY) : text, { by: random.pick(STAYING), format, scope });
  if (status === 'needs_confirmation') await tried('POST', `/imports/${id}/${random.chance(0.7) ? 'confirm' : 'discard'}`, {})(life);
};

const decisions: readonly Act[] = [
  change({ status: 'in_progress', reason: 'looking' }),
  change({ status: 'remediated', reason: 'rolled out' }),
  change({ status: 'open', reason: 'not yet' }),
  change({ status: 'verified', reason: 'tested by hand' }),
  change({ status: 'withdrawn', reason: 'not ours' }),
  change({ status: 'false_positive', justification: 'code_not_present', reason: 'not in the build' }),
  change({ status: 'false_positive', justification: 'code_not_reachable', reason: 'never called' }),
  (life) => {
    const days = life.random.number(9);
    const named = [{}, { compensating_control: 'a proxy filters requests' }, { compensating_control: 'the port is closed' }, { compensating_control: null }];
    const expires_at = daysAgo(-9 - days).toISOString();
    return change({ status: 'risk_accepted', owner: 'Ada', expires_at, reason: 'until the release', ...named[days % named.length] })(life);
  },
  change({ severity: 'low', reason: 'internal' }),
  change({ severity: null, reason: 'as reported' }),
  toFinding(
    'POST',
    (id) => `/findings/${id}/acceptance/approve`,
    () => ({ reason: 'agreed' }),
  ),
  toFinding(
    'POST',
    (id) => `/findings/${id}/acceptance/reject`,
    () => ({ reason: 'too long' }),
  ),
];

/** The other finding or asset of a merge. */
const mergeFindings: Act = async (life) => {
  const [first, second] = life.random.shuffled(await life.one.findings(...WEAKNESSES));
  return first && second && tried('POST', `/findings/${first.id}/merge`, { into: second.id, reason: 'one weakness' })(life);
};
const mergeAssets: Act = async (life) => {
  const assets = [...new Set((await life.one.findings(...WEAKNESSES)).map(({ asset }) => asset.id))];
  const [first, second] = life.random.shuffled(assets);
  return first && second && tried('POST', `/assets/${first}/merge`, { into: second, reason: 'one image' })(life);
};
/** A merged asset is no longer listed. */
const unmergeAsset: Act = async (life) => {
  const { data } = await life.one.call<{ data: { action: string; object: { id: string } }[] }>('owner', 'GET', '/audit-events?object_type=asset&limit=200');
  const [merge] = life.random.shuffled(data.filter(({ action }) => action.includes('merged')));
  return merge && tried('POST', `/assets/${merge.object.id}/unmerge`, { reason: 'two images' })(life);
};
const splitFinding: Act = async (life) => {
  const all = await life.one.findings(...WEAKNESSES);
  const known = await Promise.all(
    all.map(({ id }) => life.one.call<{ rules: { finding_id: string; revoked_at: string | null }[] }>('owner', 'GET', `/findings/${id}/identity`)),
  );
  const [merged] = life.random.shuffled(known.flatMap(({ rules }) => rules.filter(({ revoked_at }) => revoked_at === null)));
  return merged && tried('POST', `/findings/${merged.finding_id}/split`, { reason: 'two weaknesses' })(life);
};

/** Says that an id of another database means a weakness, of which a scan has reported both. */
const alias: Act = async (life) => {
  const { one, random } = life;
  await one.upload(grype({ weaknesses: [1], at: daysAgo(life.day), build: random.number(10) }).replaceAll(cve(1), ADVISORY), { by: 'lead' });
  await tried('POST', '/vulnerability-aliases', { alias: ADVISORY, vulnerability: cve(1), reason: 'the same weakness' })(life);
};

const identities: readonly Act[] = [
  mergeFindings,
  splitFinding,
  mergeAssets,
  unmergeAsset,
  alias,
  tried('POST', `/vulnerability-aliases/${ADVISORY}/revoke`, { reason: 'another weakness' }),
  tried('POST', `/vulnerability-aliases/${ADVISORY}/restore`, { reason: 'as it was' }),
];

const assets: readonly Act[] = [
  toAsset(
    'PATCH',
    (id) => `/assets/${id}`,
    ({ random }) => ({ name: `shop-${random.number(100)}` }),
  ),
  toAsset(
    'PATCH',
    (id) => `/assets/${id}`,
    () => ({ retired: true }),
  ),
  toAsset(
    'PATCH',
    (id) => `/assets/${id}`,
    () => ({ retired: false }),
  ),
  toAsset(
    'PATCH',
    (id) => `/assets/${id}`,
    ({ random }) => ({
      criticality: random.pick(['low', 'high']),
      owner: random.pick(['team a', 'team b', null]),
      exposure: random.pick(['internet', 'internal']),
    }),
  ),
  toAsset(
    'PATCH',
    (id) => `/assets/${id}/tracks/staging`,
    ({ random }) => ({ name: `staging-${random.number(9)}` }),
  ),
  toAsset(
    'POST',
    (id) => `/assets/${id}/tracks/staging/merge`,
    () => ({ into: 'prod', reason: 'one environment' }),
  ),
  toAsset(
    'POST',
    (id) => `/assets/${id}/tracks/staging/unmerge`,
    () => ({ reason: 'two environments' }),
  ),
  async (life) => {
    const { data } = await life.one.call<{ data: { id: string }[] }>('owner', 'GET', '/sources');
    const [source] = life.random.shuffled(data);
    return source && tried('POST', `/sources/${source.id}/${life.random.chance(0.6) ? 'retire' : 'reactivate'}`, { reason: 'another scanner' })(life);
  },
];

const people: readonly Act[] = [
  async (life) => {
    const { id } = life.one.team.members[life.random.pick(PEOPLE)];
    return life.one.attempt('owner', 'PATCH', `/members/${id}`, { name: `Somebody ${life.random.number(100)}` });
  },
  async (life) => {
    const { id } = life.one.team.members[life.random.pick<PersonName>(['worker', 'scanner', 'approver'])];
    return life.one.attempt('owner', 'PATCH', `/members/${id}`, { role: life.random.pick(['analyst', 'admin']) });
  },
  async (life) => {
    const { body } = await life.one.attempt(somebody(life), 'POST', '/api-keys', { name: `key ${life.random.number(100)}`, role: 'admin' });
    const { token } = body as { token?: string };
    if (token !== undefined) life.keys.push({ key: token });
  },
  async (life) =>
    life.one.attempt('owner', 'POST', '/members', {
      email: `new-${life.random.number(1e9)}@example.com`,
      name: 'New',
      role: 'analyst',
      password: 'a password that the owner has chosen',
    }),
  async (life) => life.one.attempt('owner', 'DELETE', `/members/${life.one.team.members.scanner.id}`),
  async (life) => life.one.attempt('owner', 'PATCH', '/organization', { policy: { sla: { high: 10 + life.random.number(90) } } }),
  async (life) => life.one.attempt('owner', 'PATCH', '/organization', { policy: { four_eyes: life.random.chance(0.5) } }),
  async (life) => life.one.attempt('owner', 'PATCH', '/organization', { name: `Example ${life.random.number(100)}` }),
];

const toItem: Act = async (life) => {
  const finding = await aFinding(life);
  return finding && tried('POST', `/work-items/${life.item}/findings`, { finding_ids: [finding.id] })(life);
};

const work: readonly Act[] = [
  toItem,
  async (life) => {
    const finding = await aFinding(life);
    return finding && tried('DELETE', `/work-items/${life.item}/findings/${finding.id}?reason=later`)(life);
  },
  (life) =>
    tried('PATCH', `/work-items/${life.item}`, { status: life.random.pick(['open', 'in_progress', 'awaiting_verification']), reason: 'as it is' })(life),
  (life) =>
    tried('PATCH', `/work-items/${life.item}`, {
      title: `Update ${life.random.number(9)}`,
      assignee: 'Ada',
      due_at: daysAgo(-life.random.number(30)).toISOString(),
    })(life),
  (life) => tried('POST', `/work-items/${life.item}/comments`, { text: 'I looked at it' })(life),
  (life) => life.one.artifact(life.item).catch(() => {}),
  (life) => life.one.approve(life.item, life.random.pick(PEOPLE)).catch(() => {}),
];

/** Everything that happens, with what happens often more than once. */
export const ACTS: readonly [Act, ...Act[]] = [scan, scan, scan, scan, ...decisions, ...decisions, ...identities, ...assets, ...people, ...work];
