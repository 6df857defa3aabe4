import { company } from '../company/names.ts';
import type { World } from '../company/world.ts';
import { connect, syncAll, type Vendors } from './connections.ts';
import { addStaff, type Staff } from './members.ts';
import { startInThePast } from './past-service.ts';
import { scansOf, upload } from './scans.ts';
import { addSettings } from './settings.ts';
import { type Fixes, leaveWorkOpen, planWork, proveWork } from './work.ts';

export interface Fill {
  world: World;
  vendors: Vendors;
  /** Settings of the service: the data folder, which must be empty, and where it listens. */
  settings: Readonly<Record<string, string>>;
  /** Ends the history early. The service of the past stops, and the call throws. */
  signal?: AbortSignal;
  /** Called for each week, with the findings so far. */
  onWeek?: (week: number, findings: number) => void;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Lives through the history of the company with the product's own code: uploads, API calls and runs of connections, at their time. Ends two days ago. */
export async function fill({ world, vendors, settings, signal, onWeek }: Fill): Promise<void> {
  const start = Date.now() - (world.weeks * 7 - 2) * DAY_MS;
  const service = await startInThePast(settings, new Date(start - DAY_MS));
  try {
    signal?.throwIfAborted();
    const staff = await addStaff(service.url, service.key);
    await addAssets(staff, world);
    const connections = await connect(staff.as('admin'), vendors);
    const synced = vendors.connections.flatMap(({ name, daily }) => (daily ? (connections.get(name) ?? []) : []));
    // The first scan of Grype after the fix: Grype runs in every fourth week, from the second one on.
    const proven = 1 + 4 * Math.ceil((Math.ceil(world.weeks / 2) - 1) / 4);
    let fixes: Fixes | null = null;
    for (let week = 0; week < world.weeks; week++) {
      if (week === Math.floor(world.weeks * 0.7)) vendors.revokeToken();
      for (let day = 0; day < 5; day++) {
        signal?.throwIfAborted();
        const morning = new Date(start + (week * 7 + day) * DAY_MS);
        await service.clock.moveTo(morning);
        if (day === 0 && week % 4 === 0) await staff.signIn();
        await upload(staff.pipeline, scansOf(world, week, day, morning));
        if (day === 4) await syncAll(staff.as('admin'), synced);
      }
      await service.clock.moveTo(new Date(start + (week * 7 + 4) * DAY_MS + 4 * HOUR_MS));
      if (week === (world.weeks > 4 ? 1 : 0)) fixes = await planWork(staff, world, connections.get('Jira') ?? '');
      if (week === proven && fixes) await proveWork(staff, fixes);
      if (week === world.weeks - 1) {
        await addSettings(staff, vendors.receiver);
        await leaveWorkOpen(staff, world);
      }
      if (onWeek) onWeek(week, (await staff.pipeline.call('listFindings', { query: { limit: 1, total: 'exact' } })).page.total?.count ?? 0);
    }
  } finally {
    await service.stop();
  }
}

async function addAssets(staff: Staff, { images, repositories, hosts, websites }: World): Promise<void> {
  const admin = staff.as('admin');
  for (const { repository, team, criticality, exposure } of images)
    await admin.call('createAsset', { body: { type: 'container_image', name: repository, owner: team, criticality, exposure, tags: ['production'] } });
  for (const { address, team, criticality, language } of repositories)
    await admin.call('createAsset', { body: { type: 'repository', name: address, owner: team, criticality, exposure: 'internal', tags: [language] } });
  for (const { name, team, criticality, exposure } of hosts)
    await admin.call('createAsset', { body: { type: 'host', name, owner: team, criticality, exposure, tags: ['server'] } });
  for (const { url, team, criticality } of websites)
    await admin.call('createAsset', { body: { type: 'web_application', name: url, owner: team, criticality, exposure: 'internet', tags: [company.domain] } });
}
