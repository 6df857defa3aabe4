import { setTimeout as delay } from 'node:timers/promises';
import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import { type Outcome, quantile } from '../figures.ts';
import { createOrganizations, type Organization } from '../organizations.ts';
import { startService, temporaryDataDir } from '../processes.ts';

export interface Options {
  organizations: number;
  /** Of each phase. */
  seconds: number;
  seed: number;
  /** The data folder of a service that was started before, to save the first start. */
  used?: string;
}

/** How long a quiet organization waits between a response and its next request, on average. */
const THINK_MS = 500;
/** The noisy organization sends the next request when it has the response to the one before, on so many connections. */
const NOISY_CONNECTIONS = 24;
const FINDINGS = 200;
const NOISY_FINDINGS = 2_000;
/** How much slower others may get. The rest of the machine is shared, the load generator included. */
const MAX_RATIO = { p50: 10, p99: 10, import: 10 };
/** A machine that is too small refuses some requests in any case. */
const MAX_MORE_REFUSED = 0.02;
/** The slowest organization compared with the one in the middle. */
const MAX_SPREAD = 3;
/** Fewer requests say nothing about ratios. Then it counts only that all were served. */
const MIN_SAMPLES = 200;

interface Sample {
  organization: Organization;
  what: string;
  ms: number;
  status: number;
}

const report = (fleet: string, findings: number): string =>
  Array.from(
    { length: findings },
    (_, n) =>
      `${JSON.stringify({ title: `Weakness ${n}`, severity: 'high', asset_type: 'host', asset_name: `${fleet}-${n % 20}.example`, rule: `rule-${n}` })}\n`,
  ).join('');

interface Request {
  what: string;
  method?: string;
  path: string;
  body?: string;
  type?: string;
  wait?: boolean;
}

/** Mixed work: mostly reading, some changes, and an import of one finding, whose end is waited for. */
function quietRequest(random: Random, organization: Organization, n: number): Request {
  const kind = random.number(20);
  if (kind < 8) return { what: 'list', path: '/findings?limit=50' };
  if (kind < 11) return { what: 'filter', path: `/findings?limit=20&q=Weakness&severity=high&asset=${organization.slug}-${random.number(20)}` };
  if (kind < 13) return { what: 'stats', path: '/findings/stats' };
  if (kind < 15) return { what: 'me', path: '/me' };
  if (kind < 18) {
    const body = { title: `Created ${n} at ${Date.now()}`, severity: 'low', asset: { type: 'host', name: `${organization.slug}.example` } };
    return { what: 'create', path: '/findings', body: JSON.stringify(body) };
  }
  return { what: 'import', path: '/imports?format=generic', body: report(`${organization.slug}-small-${n}`, 1), type: 'application/octet-stream', wait: true };
}

function noisyRequest(random: Random, organization: Organization, n: number): Request {
  const kind = random.number(10);
  if (kind < 3)
    return {
      what: 'large import',
      path: '/imports?format=generic',
      body: report(`${organization.slug}-${n}`, NOISY_FINDINGS),
      type: 'application/octet-stream',
    };
  if (kind < 5) return { what: 'export', path: '/findings/export?format=csv' };
  if (kind < 6) return { what: 'bulk', path: '/findings/bulk', body: JSON.stringify({ filter: { severity: ['high'] }, change: { add_tags: [`t${n % 5}`] } }) };
  return { what: 'list', path: '/findings?limit=200&total=exact' };
}

async function send(url: string, organization: Organization, { what, method, path, body, type = 'application/json', wait = false }: Request): Promise<Sample> {
  const started = performance.now();
  const response = await fetch(`${url}/api/v1${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${organization.keys.owner}`,
      ...(body === undefined ? {} : { 'content-type': type }),
      prefer: `wait=${wait ? 30 : 0}`,
    },
    ...(body === undefined ? {} : { body }),
  });
  await response.arrayBuffer();
  return { organization, what, ms: performance.now() - started, status: response.status };
}

/** One request at a time, with pauses, as a person does. On a slow machine there are fewer requests, instead of more that wait. */
async function quietLoad(url: string, organization: Organization, random: Random, until: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let n = 0; Date.now() < until; n++) {
    await delay(THINK_MS * (0.5 + random.number(1000) / 1000));
    samples.push(await send(url, organization, quietRequest(random, organization, n)));
  }
  return samples;
}

async function noisyLoad(url: string, organization: Organization, random: Random, until: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const work = async (first: number): Promise<void> => {
    for (let n = first; Date.now() < until; n += NOISY_CONNECTIONS) {
      const sample = await send(url, organization, noisyRequest(random, organization, n));
      samples.push(sample);
      if (sample.status === 429 || sample.status === 503) await delay(100);
    }
  };
  await Promise.all(Array.from({ length: NOISY_CONNECTIONS }, (_, n) => work(n)));
  return samples;
}

/** Twenty organizations with mixed work: first among themselves, then next to one that sends as much as it can. */
export async function load({ organizations: count, seconds, seed, used }: Options): Promise<Outcome> {
  const { dataDir, remove } = temporaryDataDir(used);
  const service = await startService(dataDir, { RRS_LOG_LEVEL: 'warn' });
  try {
    const { url } = service;
    const slugs = Array.from({ length: count }, (_, n) => `org-${n}`);
    const [noisy, ...quiet] = await createOrganizations(dataDir, slugs);
    if (!noisy || quiet.length === 0) throw new Error('the campaign needs at least two organizations');
    for (const organization of [noisy, ...quiet]) {
      const first = {
        what: 'import',
        path: '/imports?format=generic',
        body: report(organization.slug, FINDINGS),
        type: 'application/octet-stream',
        wait: true,
      };
      await send(url, organization, first);
    }
    const phase = async (isNoisy: boolean) => {
      const until = Date.now() + seconds * 1000;
      const noise = isNoisy ? noisyLoad(url, noisy, randomOf(seed), until) : Promise.resolve([]);
      const all = await Promise.all(quiet.map((organization, n) => quietLoad(url, organization, randomOf(seed + n), until)));
      return { quiet: all.flat(), noisy: await noise };
    };
    const calm = await phase(false);
    const loud = await phase(true);
    const ended = service.ended();
    return outcomeOf({ calm: calm.quiet, loud: loud.quiet, noise: loud.noisy, quiet, seed, seconds, ended });
  } finally {
    await service.stop();
    remove();
  }
}

interface Measured {
  calm: Sample[];
  loud: Sample[];
  noise: Sample[];
  quiet: readonly Organization[];
  seed: number;
  seconds: number;
  ended: boolean;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function outcomeOf({ calm, loud, noise, quiet, seed, seconds, ended }: Measured): Outcome {
  const times = (samples: readonly Sample[], isImport = false): number[] => samples.filter(({ what }) => (what === 'import') === isImport).map(({ ms }) => ms);
  const of = (samples: readonly Sample[], organization: Organization): Sample[] => samples.filter((sample) => sample.organization === organization);
  const ratio = {
    p50: quantile(times(loud), 0.5) / quantile(times(calm), 0.5),
    p99: quantile(times(loud), 0.99) / quantile(times(calm), 0.99),
    import: quantile(times(loud, true), 0.5) / quantile(times(calm, true), 0.5),
  };
  const medians = quiet.map((organization) => quantile(times(of(loud, organization)), 0.5));
  const spread = Math.max(...medians) / quantile(medians, 0.5);
  const isMeasured = times(calm).length >= MIN_SAMPLES && times(loud).length >= MIN_SAMPLES;
  const share = (samples: readonly Sample[]): number => samples.filter(({ status }) => status === 503).length / samples.length;
  const unavailable = { calm: share(calm), loud: share(loud) };
  const refused = [...calm, ...loud].filter(({ status }) => status >= 400 && status !== 503);
  const failed = noise.filter(({ status }) => status >= 400 && status !== 429 && status !== 503);
  const violations = [
    ...(ended ? ['the service ended'] : []),
    ...(unavailable.loud > unavailable.calm + MAX_MORE_REFUSED
      ? [`${percent(unavailable.loud)} of the requests of quiet organizations got 503 next to the noisy one, ${percent(unavailable.calm)} without it`]
      : []),
    ...refused.map(({ organization, what, status }) => `${what} of the quiet organization ${organization.slug} got ${status}`),
    ...failed.map(({ what, status }) => `${what} of the noisy organization got ${status}`),
    ...(isMeasured && ratio.p50 > MAX_RATIO.p50 ? [`requests of quiet organizations take ${ratio.p50.toFixed(1)} times as long next to the noisy one`] : []),
    ...(isMeasured && ratio.p99 > MAX_RATIO.p99
      ? [`the slowest requests of quiet organizations take ${ratio.p99.toFixed(1)} times as long next to the noisy one`]
      : []),
    ...(isMeasured && ratio.import > MAX_RATIO.import
      ? [`imports of quiet organizations take ${ratio.import.toFixed(1)} times as long next to the noisy one`]
      : []),
    ...(isMeasured && spread > MAX_SPREAD ? [`the slowest quiet organization takes ${spread.toFixed(1)} times as long as the median`] : []),
  ];
  const pair = (samples: number[]): string => `${quantile(samples, 0.5).toFixed(0)} / ${quantile(samples, 0.99).toFixed(0)} ms`;
  const statuses = Map.groupBy(noise, ({ status }) => status);
  return {
    figures: [
      ['seed', seed],
      ['organizations', `${quiet.length} quiet, 1 noisy, ${seconds} s each alone and next to it`],
      ['requests', `${calm.length} calm, ${loud.length} next to noise, ${noise.length} of the noisy one`],
      ['noisy responses', [...statuses].map(([status, all]) => `${status}: ${all.length}`).join(', ')],
      ['503 to quiet organizations', `${percent(unavailable.calm)} calm, ${percent(unavailable.loud)} next to noise`],
      ['p50 / p99 calm', pair(times(calm))],
      ['p50 / p99 next to noise', pair(times(loud))],
      ['import of one finding, p50 / p99 calm', pair(times(calm, true))],
      ['import of one finding, p50 / p99 next to noise', pair(times(loud, true))],
      ['ratio noise : calm', `p50 ${ratio.p50.toFixed(1)}, p99 ${ratio.p99.toFixed(1)}, import p50 ${ratio.import.toFixed(1)}`],
      ['slowest : median organization', spread.toFixed(2)],
      ...quiet.map((organization): [string, string] => [
        `  ${organization.slug} calm; next to noise`,
        `${pair(times(of(calm, organization)))}; ${pair(times(of(loud, organization)))}`,
      ]),
    ],
    violations,
  };
}
