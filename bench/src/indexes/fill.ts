import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generate } from '../evidence.ts';
import { importReport } from '../imports.ts';
import { blocks } from '../reports.ts';
import type { Session } from '../session.ts';
import { call } from '../stalls/stall.ts';

export interface Sizes {
  /** Half of them on hosts, the others on container images, where each has two places. */
  findings: number;
  /** At most 10,000 of the findings on hosts. They are accepted, linked to a work item and sealed. */
  worked: number;
  comments: number;
}

const PER_ASSET = 5;

/** Fills the tables that grow with findings, imports, changes and events, as imports and people do it. */
export async function fill(session: Session, { findings, worked, comments }: Sizes): Promise<void> {
  await keepStagedRows(session);
  // Nobody listens there, so the deliveries wait.
  await call(session, 'POST', '/webhooks', { url: 'http://127.0.0.1:1/', event_types: ['*'] });
  const file = join(session.folder, 'report.ndjson');
  await pipeline(Readable.from(lines({ findings, worked })), createWriteStream(file));
  await importReport(session, file, { created: findings });
  await importReport(session, file, { created: 0 });
  const filter = { asset: 'worked-' };
  const item = await call<{ id: string }>(session, 'POST', '/work-items', { title: 'Update the fleet', filter });
  const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString();
  for (const change of [{ status: 'in_progress' }, { status: 'risk_accepted', owner: 'Operations', expires_at }])
    await call(session, 'POST', '/findings/bulk', { filter, change: { ...change, reason: 'The update is planned' } });
  await generate(session, item.id);
  const { data } = await call<{ data: { id: string }[] }>(session, 'GET', '/findings?limit=200');
  for (let n = 0; n < comments; n++) await call(session, 'POST', `/findings/${data[n % data.length]?.id}/comments`, { text: `Note ${n}` });
}

function* lines({ findings, worked }: Pick<Sizes, 'findings' | 'worked'>): Generator<string> {
  let n = 0;
  for (const block of blocks({ findings, fleet: '', sentences: 4 })) {
    for (const line of block.trim().split('\n')) {
      const asset = Math.floor(n / PER_ASSET);
      const isHost = n < findings / 2;
      const record = { ...JSON.parse(line), ...(isHost ? host(asset, n < worked) : image(asset)) };
      const places = isHost ? [{}] : [{ path: 'app/package-lock.json' }, { path: 'tools/package-lock.json' }];
      yield places.map((place) => `${JSON.stringify({ ...record, ...place })}\n`).join('');
      n++;
    }
  }
}

const host = (n: number, isWorked: boolean) => ({ asset_type: 'host', asset_name: `${isWorked ? 'worked' : 'other'}-${n}.example.com` });
const image = (n: number) => ({ asset_type: 'container_image', asset_name: `registry.example.com/team/app-${n}:1.${n}.0` });

/** Imports delete what they have staged. */
async function keepStagedRows({ admin }: Session): Promise<void> {
  await admin.query("create function keep_row() returns trigger language plpgsql as 'begin return null; end'");
  for (const table of ['import_assets', 'import_rows', 'import_texts', 'import_seen', 'import_groups'])
    await admin.query(`create trigger keep before delete on ${table} for each row execute function keep_row()`);
}
