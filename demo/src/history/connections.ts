import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@rrs/client';
import { type FakeResponse, type FakeVendor, fakes, type RunningFake, serveFake } from '../../../connectors/src/fakes.ts';
import { exploited } from '../company/catalogue.ts';
import { company } from '../company/names.ts';
import { tagOf, type World } from '../company/world.ts';
import { trivyReport } from '../reports/images.ts';

/** Vendors that answer on this machine. They answer as long as the demo runs. */
export interface Vendors {
  connections: readonly { provider: string; name: string; config: Record<string, unknown>; credentials: Record<string, unknown>; daily: boolean }[];
  /** Where vulnerability data comes from, for RRS_ENRICHMENT_MIRRORS. */
  mirrors: string[];
  /** Where webhooks send events. It accepts all of them. */
  receiver: string;
  /** From now on one of the vendors refuses our credentials. */
  revokeToken(): void;
  close(): Promise<void>;
}

const known = (id: string): FakeVendor => {
  const vendor = fakes.find((fake) => fake.id === id);
  if (!vendor) throw new Error(`there is no fake of ${id}`);
  return vendor;
};

/** The vendor's clock is ours: the service compares them when a vendor refuses credentials. */
function serve(vendor: FakeVendor): Promise<RunningFake> {
  const answer = vendor.answer({ pageSize: 100 });
  return serveFake({ ...vendor, answer: () => async (request) => inOurTime(await answer(request)) }, { pageSize: 100 });
}

const inOurTime = (response: FakeResponse): FakeResponse => ({ ...response, headers: { ...response.headers, date: new Date().toUTCString() } });

export async function startVendors(world: World): Promise<Vendors> {
  const { images, catalogue } = world;
  const cves = [catalogue.system, ...Object.values(catalogue.libraries)].flat().flatMap(({ vulnerabilities }) => vulnerabilities.map(({ cve }) => cve));
  let revoked = false;
  const snyk = known('snyk');
  const vendors = {
    kev: await serve({ ...known('cisa_kev'), answer: () => () => ({ page: true, body: kevCatalog() }) }),
    epss: await serve({ ...known('epss'), answer: () => () => ({ page: true, body: epssScores(cves) }) }),
    jira: await serve(known('jira')),
    snyk: await serve({
      ...snyk,
      answer: (options) => {
        const answer = snyk.answer(options);
        return async (request) => {
          if (revoked) return { status: 401, body: { errors: [{ status: '401', detail: 'Unauthorized' }] } };
          const response = await answer(request);
          const text = JSON.stringify(response.body ?? null);
          return {
            ...response,
            body: JSON.parse(text.replaceAll('acme/shop', 'meridian-parcel/courier-app').replaceAll('Weakness ', 'Vulnerable library in the courier app, ')),
          };
        };
      },
    }),
    qualys: await serve(known('qualys')),
    receiver: await serve({ ...known('report_url'), answer: () => () => ({ status: 204 }) }),
    nightly: await serve({
      ...known('report_url'),
      answer: () => () => {
        const image = images.at(-1);
        const week = world.weeks - 1;
        return { page: true, body: image ? trivyReport({ image, tag: tagOf(week), week, at: new Date() }) : '{}' };
      },
    }),
  };
  const settings = (id: string, origin: string) => parts(known(id).settings(origin));
  return {
    connections: [
      { provider: 'cisa_kev', name: 'CISA KEV', ...settings('cisa_kev', vendors.kev.origin), daily: true },
      { provider: 'epss', name: 'EPSS', ...settings('epss', vendors.epss.origin), daily: true },
      { provider: 'jira', name: 'Jira', ...settings('jira', vendors.jira.origin), daily: false },
      { provider: 'snyk', name: 'Snyk (courier app)', ...settings('snyk', vendors.snyk.origin), daily: true },
      { provider: 'qualys', name: 'Qualys (depots)', ...parts(known('qualys').refused?.(vendors.qualys.origin)), daily: true },
      {
        provider: 'report_url',
        name: 'Nightly image scan',
        config: { url: `${vendors.nightly.origin}/nightly.json`, format: 'trivy' },
        credentials: {},
        daily: true,
      },
    ],
    mirrors: [vendors.kev.origin, vendors.epss.origin],
    receiver: vendors.receiver.origin,
    revokeToken: () => {
      revoked = true;
    },
    close: async () => {
      await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
    },
  };
}

function parts({ config, credentials }: { config?: unknown; credentials?: unknown } = {}) {
  return { config: { ...Object(config) }, credentials: { ...Object(credentials) } };
}

function kevCatalog() {
  const day = new Date().toISOString().slice(0, 10);
  return {
    title: 'CISA Catalog of Known Exploited Vulnerabilities',
    catalogVersion: day.replaceAll('-', '.'),
    dateReleased: new Date().toISOString(),
    count: exploited.length,
    vulnerabilities: exploited.map((cveID) => ({
      cveID,
      vendorProject: company.name,
      product: 'Several',
      vulnerabilityName: cveID,
      dateAdded: '2023-10-10',
      shortDescription: 'Exploited in the wild.',
      requiredAction: 'Apply updates per vendor instructions.',
      dueDate: '2023-10-31',
      knownRansomwareCampaignUse: 'Known',
      notes: '',
      cwes: [],
    })),
  };
}

/** Most vulnerabilities are hardly ever exploited. */
function epssScores(cves: readonly string[]): string {
  const rows = cves.map(
    (cve, n) => `${cve},${n % 17 === 0 ? (0.4 + (n % 50) / 100).toFixed(5) : ((n % 90) / 1000).toFixed(5)},${(n / cves.length).toFixed(5)}`,
  );
  return [
    `#model_version:v2026.06.15,score_date:${new Date().toISOString().slice(0, 19)}Z`,
    'cve,epss,percentile',
    ...exploited.map((cve) => `${cve},0.97,0.999`),
    ...rows,
    '',
  ].join('\n');
}

/** Adds the connections and returns their ids by name. */
export async function connect(admin: Client, { connections }: Vendors): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { daily, ...connection } of connections) {
    const { id } = await admin.call('createConnection', { body: { ...connection, schedule: daily ? { every_minutes: 1440 } : null } });
    ids.set(connection.name, id);
  }
  return ids;
}

/** Runs the connections, and waits until the runs have ended, well or badly. */
export async function syncAll(admin: Client, ids: readonly string[]): Promise<void> {
  const running = await Promise.all(ids.map(async (id) => ({ id, run: (await admin.call('syncConnection', { path: { id } })).id })));
  for (const { id, run } of running) {
    for (;;) {
      const { status } = await admin.call('getRun', { path: { id, run_id: run } });
      if (status !== 'queued' && status !== 'running') break;
      await delay(25);
    }
  }
}
