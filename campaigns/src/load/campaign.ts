import { setTimeout as delay } from 'node:timers/promises';
import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import { type Outcome, quantile } from '../figures.ts';
import { createOrganizations, type Organization } from '../organizations.ts';
import { startService, temporaryDataDir } from '../processes.ts';
import { firstImport, noisyRequest, type Quiet, quietRequest, type Sample, send, sendQuietly, totalRequest } from './requests.ts';

export interface Options {
  organizations: number;
  /** Of each phase, at most. */
  seconds: number;
  /** Of each quiet organization in each phase, at most. */
  requests?: number;
  /** How long a quiet organization waits between a response and its next request, on average. */
  thinkMs?: number;
  /** In each import of the noisy organization. */
  noisyFindings?: number;
  /** The noisy organization sends the next request when it has the response to the one before, on so many connections. */
  noisyConnections?: number;
  seed: number;
  /** The data folder of a service that was started before, to save the first start. */
  used?: string;
}

const THINK_MS = 500;
const NOISY_FINDINGS = 2_000;
const NOISY_CONNECTIONS = 24;
/** How much slower others may get. The rest of the machine is shared, the load generator included. */
const MAX_RATIO = { p50: 10, p99: 10, import: 10 };
/** A machine that is too small refuses some requests in any case. */
const MAX_MORE_REFUSED = 0.02;
/** A few requests say only that an organization is served at all. */
const MAX_REFUSED_OF_FEW = 0.5;
/** The slowest organization compared with the one in the middle. */
const MAX_SPREAD = 3;
/** Fewer requests say nothing about ratios. Then it counts only that all were served. */
const MIN_SAMPLES = 200;

/** One request at a time, with pauses, as a person does. On a slow machine there are fewer requests, instead of more that wait. */
async function quietLoad(url: string, quiet: Quiet, random: Random, { until, requests, thinkMs, phase }: Phase): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let n = 0; n < requests && Date.now() < until; n++) {
    await delay(thinkMs * (0.5 + random.number(1000) / 1000));
    samples.push(await sendQuietly(url, quiet, quietRequest(random, quiet, `${phase}-${n}`)));
  }
  return samples;
}

interface Phase {
  phase: string;
  until: number;
  requests: number;
  thinkMs: number;
}

interface Noise {
  findings: number;
  connections: number;
  isOver: () => boolean;
}

/** As much as it can, until the others have ended. */
async function noisyLoad(url: string, organization: Organization, random: Random, { findings, connections, isOver }: Noise): Promise<Sample[]> {
  const samples: Sample[] = [];
  const work = async (first: number): Promise<void> => {
    for (let n = first; !isOver(); n += connections) {
      const { body: _, ...sample } = await send(url, organization, noisyRequest(random, organization, n, findings));
      samples.push(sample);
      if (sample.status === 429 || sample.status === 503) await delay(100);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, n) => work(n)));
  return samples;
}

/** Organizations with mixed work: first among themselves, then next to one that sends as much as it can. */
export async function load({
  organizations: count,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  thinkMs = THINK_MS,
  noisyFindings = NOISY_FINDINGS,
  noisyConnections = NOISY_CONNECTIONS,
  seed,
  used,
}: Options): Promise<Outcome> {
  const { dataDir, remove } = temporaryDataDir(used);
  const service = await startService(dataDir, { LOG_LEVEL: 'warn' });
  try {
    const { url } = service;
    const slugs = Array.from({ length: count }, (_, n) => `org-${n}`);
    const [noisy, ...quiet] = (await createOrganizations(dataDir, slugs)).map((organization): Quiet => ({ organization, known: 0, unsure: 0 }));
    if (!noisy || quiet.length === 0) throw new Error('the campaign needs at least two organizations');
    const first: Sample[] = [];
    for (const one of [noisy, ...quiet]) first.push(await sendQuietly(url, one, firstImport(one)));
    const run = async (phase: string, isNoisy: boolean) => {
      const limits = { phase, until: Date.now() + seconds * 1000, requests, thinkMs };
      let isOver = !isNoisy;
      const noise = noisyLoad(url, noisy.organization, randomOf(seed), { findings: noisyFindings, connections: noisyConnections, isOver: () => isOver });
      const all = await Promise.all(quiet.map((one, n) => quietLoad(url, one, randomOf(seed + n), limits)));
      isOver = true;
      return { quiet: all.flat(), noisy: await noise };
    };
    const calm = await run('calm', false);
    const loud = await run('loud', true);
    const last: Sample[] = [];
    for (const one of quiet) last.push(await sendQuietly(url, one, totalRequest(one)));
    const organizations = quiet.map(({ organization }) => organization);
    const ended = service.ended();
    return outcomeOf({ calm: calm.quiet, loud: loud.quiet, noise: loud.noisy, around: [...first, ...last], quiet: organizations, seed, seconds, ended });
  } finally {
    await service.stop();
    remove();
  }
}

interface Measured {
  calm: Sample[];
  loud: Sample[];
  noise: Sample[];
  /** Before and after. */
  around: Sample[];
  quiet: readonly Organization[];
  seed: number;
  seconds: number;
  ended: boolean;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function outcomeOf({ calm, loud, noise, around, quiet, seed, seconds, ended }: Measured): Outcome {
  const times = (samples: readonly Sample[], isImport = false): number[] => samples.filter(({ what }) => (what === 'import') === isImport).map(({ ms }) => ms);
  const of = (samples: readonly Sample[], organization: Organization): Sample[] => samples.filter((sample) => sample.organization === organization);
  const ratio = {
    p50: quantile(times(loud), 0.5) / quantile(times(calm), 0.5),
    p99: quantile(times(loud), 0.99) / quantile(times(calm), 0.99),
    import: quantile(times(loud, true), 0.5) / quantile(times(calm, true), 0.5),
  };
  // Some requests take longer than others, and organizations send different ones. So each counts relative to those of its kind.
  const kinds = [...Map.groupBy(loud, ({ what }) => what)].map(([what, samples]): [string, number] => [
    what,
    quantile(
      samples.map(({ ms }) => ms),
      0.5,
    ),
  ]);
  const medianOf = new Map(kinds);
  const relative = (samples: readonly Sample[]): number[] => samples.map(({ what, ms }) => ms / (medianOf.get(what) ?? ms));
  const medians = quiet.map((organization) => quantile(relative(of(loud, organization)), 0.5));
  const spread = Math.max(...medians) / quantile(medians, 0.5);
  const isMeasured = times(calm).length >= MIN_SAMPLES && times(loud).length >= MIN_SAMPLES;
  const share = (samples: readonly Sample[]): number => samples.filter(({ status }) => status === 503).length / samples.length;
  const unavailable = { calm: share(calm), loud: share(loud) };
  const refused = [...calm, ...loud].filter(({ status }) => status >= 400 && status !== 503);
  const failed = noise.filter(({ status }) => status >= 400 && status !== 429 && status !== 503);
  const unserved = quiet.filter((organization) => of(loud, organization).every(({ status }) => status >= 400));
  const violations = [
    ...(ended ? ['the service ended'] : []),
    ...(unavailable.loud > unavailable.calm + (isMeasured ? MAX_MORE_REFUSED : MAX_REFUSED_OF_FEW)
      ? [`${percent(unavailable.loud)} of the requests of quiet organizations got 503 next to the noisy one, ${percent(unavailable.calm)} without it`]
      : []),
    ...[...around, ...calm, ...loud].flatMap(({ organization, what, wrong }) => (wrong === null ? [] : [`${what} of ${organization.slug}: ${wrong}`])),
    ...around.filter(({ status }) => status >= 400).map(({ organization, what, status }) => `${what} of ${organization.slug} got ${status}`),
    ...unserved.map(({ slug }) => `the quiet organization ${slug} got no response next to the noisy one`),
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
      ['p50 of each kind next to noise', kinds.map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`).join(', ')],
      ['slowest : median organization', spread.toFixed(2)],
      ...quiet.map((organization): [string, string] => [
        `  ${organization.slug} calm; next to noise`,
        `${pair(times(of(calm, organization)))}; ${pair(times(of(loud, organization)))}`,
      ]),
    ],
    violations,
  };
}
