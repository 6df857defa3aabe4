import type { Random } from '../../../service/src/testing/truth/random.ts';
import type { Organization } from '../organizations.ts';

/** Findings that each organization has from the start, on so many assets. */
const FINDINGS = 200;
const ASSETS = 20;

/** An organization that sends one request at a time, so that it knows what every response has to say. */
export interface Quiet {
  organization: Organization;
  /** Findings that the service acknowledged. */
  known: number;
  /** Findings that it may have, because nothing was said about them. */
  unsure: number;
}

export interface Request {
  what: string;
  path: string;
  body?: string;
  type?: string;
  /** Whether the response waits for the end of an import. */
  waits?: boolean;
  /** How many findings it adds. */
  adds?: number;
  /** What is wrong with the body of a successful response. */
  wrong?: (body: Body) => string | null;
}

/** The fields that are looked at, of all responses. */
interface Body {
  data: { title: string; asset: { name: string } }[];
  total: number;
  organization: { slug: string };
  title: string;
  status: string;
  counts: { created: number };
}

const report = (fleet: string, findings: number): string =>
  Array.from(
    { length: findings },
    (_, n) =>
      `${JSON.stringify({ title: `Weakness ${n}`, severity: 'high', asset_type: 'host', asset_name: `${fleet}-${n % ASSETS}.example`, rule: `rule-${n}` })}\n`,
  ).join('');

const WAIT_SECONDS = 30;

function importOf(fleet: string, findings: number): Request {
  const wrong = ({ status, counts }: Body): string | null => {
    if (status === 'queued' || status === 'running') return `it has not ended after ${WAIT_SECONDS} s`;
    return status === 'succeeded' && counts.created === findings ? null : `it ended as ${status} with ${counts.created} instead of ${findings} findings`;
  };
  const body = report(fleet, findings);
  return { what: 'import', path: '/imports?format=generic', body, type: 'application/octet-stream', waits: true, adds: findings, wrong };
}

export const firstImport = ({ organization }: Quiet): Request => importOf(organization.slug, FINDINGS);

/** Mixed work: mostly reading, some changes, and an import of one finding, whose end is waited for. */
export function quietRequest(random: Random, quiet: Quiet, id: string): Request {
  const { slug } = quiet.organization;
  const kind = random.number(20);
  if (kind < 8) return { what: 'list', path: '/findings?limit=50', wrong: (body) => ofOthers(slug, body) ?? ofNumber(body, Math.min(50, quiet.known)) };
  if (kind < 11) {
    const path = `/findings?limit=20&q=Weakness&severity=high&asset=${slug}-${random.number(ASSETS)}.example`;
    return { what: 'filter', path, wrong: (body) => ofOthers(slug, body) ?? ofNumber(body, FINDINGS / ASSETS) };
  }
  if (kind < 13) return { what: 'stats', path: '/findings/stats', wrong: (body) => total(quiet, body) };
  if (kind < 15) return { what: 'me', path: '/me', wrong: ({ organization }) => (organization.slug === slug ? null : `it is about ${organization.slug}`) };
  if (kind < 18) {
    const created = { title: `Created ${id}`, severity: 'low', asset: { type: 'host', name: `${slug}-created.example` } };
    const wrong = ({ title }: Body): string | null => (title === created.title ? null : `it is about ${title}`);
    return { what: 'create', path: '/findings', body: JSON.stringify(created), adds: 1, wrong };
  }
  return importOf(`${slug}-small-${id}`, 1);
}

/** All findings of an organization, when nothing changes them any more. */
export const totalRequest = (quiet: Quiet): Request => ({ what: 'total', path: '/findings/stats', wrong: (body) => total(quiet, body) });

function ofOthers(slug: string, { data }: Body): string | null {
  const foreign = data.find(({ asset }) => !asset.name.startsWith(`${slug}-`));
  return foreign ? `it contains a finding on ${foreign.asset.name}` : null;
}

const ofNumber = ({ data }: Body, expected: number): string | null =>
  data.length === expected ? null : `it contains ${data.length} instead of ${expected} findings`;

function total({ known, unsure }: Quiet, { total: found }: Body): string | null {
  return found >= known && found <= known + unsure ? null : `it counts ${found} findings of ${known} and at most ${unsure} more`;
}

export function noisyRequest(random: Random, { slug }: Organization, n: number, findings: number): Request {
  const kind = random.number(10);
  if (kind < 3) {
    const { wrong: _, ...large } = importOf(`${slug}-${n}`, findings);
    return { ...large, what: 'large import', waits: false };
  }
  if (kind < 5) return { what: 'export', path: '/findings/export?format=csv' };
  if (kind < 6) return { what: 'bulk', path: '/findings/bulk', body: JSON.stringify({ filter: { severity: ['high'] }, change: { add_tags: [`t${n % 5}`] } }) };
  return { what: 'list', path: '/findings?limit=200&total=exact' };
}

export interface Sample {
  organization: Organization;
  what: string;
  ms: number;
  status: number;
  /** Null if the response was right, or a refusal. */
  wrong: string | null;
}

export async function send(
  url: string,
  organization: Organization,
  { what, path, body, type, waits, wrong }: Request,
): Promise<Sample & { body: Body | null }> {
  const started = performance.now();
  const response = await fetch(`${url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${organization.keys.owner}`,
      ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      prefer: `wait=${waits ? WAIT_SECONDS : 0}`,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const ms = performance.now() - started;
  const received = response.ok && wrong ? (JSON.parse(text) as Body) : null;
  return { organization, what, ms, status: response.status, wrong: received && wrong ? wrong(received) : null, body: received };
}

/** Sends a request and remembers what it added. */
export async function sendQuietly(url: string, quiet: Quiet, request: Request): Promise<Sample> {
  const { body, ...sample } = await send(url, quiet.organization, request);
  const { adds = 0 } = request;
  const isDone = body !== null && (request.waits !== true || body.status === 'succeeded');
  if (isDone) quiet.known += adds;
  else quiet.unsure += adds;
  return sample;
}
