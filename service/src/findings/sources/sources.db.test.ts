import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { finding, get, send } = service;

interface Shown {
  id: string;
  status: string;
  reason_code: string | null;
  sightings: { source: { provider: string }; track: string; state: string; gaps: { code: string }[] }[];
  still_open_because: { code: string; source: { provider: string }; stale: boolean }[];
}

let count = 0;
let weakness = '';
let image = '';
beforeEach(() => {
  weakness = `CVE-2026-${10_000 + ++count}`;
  image = `sources-${count}`;
});

type Tool = NonNullable<ImportOptions['source']>;

/** A complete scan of a track of the image, on a day of January 2026 that may have a fraction. */
const scan = (source: Tool, day: number, shows: boolean | 'fixed', track = 'prod') => {
  const asset: Asset = { type: 'container_image', name: `${image}:${track}` };
  const started_at = new Date(Date.UTC(2026, 0, 1) + (day - 1) * 86_400_000).toISOString();
  return service.run([...(shows ? [seen({ asset, vulnerability_ids: [weakness], present: shows === true })] : []), { run: { asset } }], {
    source,
    scope: { coverage: 'complete', started_at },
  });
};

async function retire(provider: Tool): Promise<void> {
  const { data } = await get<{ data: { id: string; provider: string }[] }>('/sources?limit=200');
  const id = data.find((source) => source.provider === provider)?.id;
  expect(await send('POST', `/sources/${id}/retire`, { reason: 'replaced' })).toMatchObject({ status: 200 });
}

const shown = () => finding<Shown>(weakness);
const ofTool = ({ sightings }: Shown, provider: Tool) => sightings.filter((sighting) => sighting.source.provider === provider);

describe('retiring a source that still sees a finding', () => {
  it('leaves a gap if another source proves that the finding is gone', async () => {
    await scan('tool_a', 1, true);
    await scan('tool_b', 1, true);
    await scan('tool_b', 2, false);
    await retire('tool_a');
    const found = await shown();
    expect(found).toMatchObject({ status: 'verified', reason_code: 'scan_absent' });
    expect(ofTool(found, 'tool_a')).toMatchObject([{ state: 'unknown', gaps: [{ code: 'source_retired' }] }]);
    await scan('tool_a', 3, true);
    expect(await shown()).toMatchObject({ status: 'open' });
    expect(ofTool(await shown(), 'tool_a')).toMatchObject([{ state: 'present', gaps: [] }]);
  });

  it('leaves the same gap if the other source proves it later', async () => {
    await scan('tool_a', 1, true);
    await scan('tool_b', 1, true);
    await retire('tool_a');
    expect(await shown()).toMatchObject({ status: 'open' });
    await scan('tool_b', 2, false);
    const found = await shown();
    expect(found).toMatchObject({ status: 'verified', reason_code: 'scan_absent' });
    expect(ofTool(found, 'tool_a')).toMatchObject([{ state: 'unknown', gaps: [{ code: 'source_retired' }] }]);
  });

  it.each([
    ['later', 5],
    ['on the same day, but later', 2.5],
  ])('proves nothing if it saw the finding %s', async (_name, last) => {
    await scan('tool_a', 2, true);
    await scan('tool_b', 2, true);
    await scan('tool_b', 2.2, false);
    await scan('tool_a', last, true);
    await retire('tool_a');
    expect(await shown()).toMatchObject({ status: 'withdrawn', reason_code: 'source_retired' });
  });

  it.each(['before', 'after'])('proves nothing if the other source looked at another track %s that', async (when) => {
    await scan('tool_a', 1, true, 'prod');
    await scan('tool_b', 1, true, 'staging');
    if (when === 'after') await retire('tool_a');
    await scan('tool_b', 2, false, 'staging');
    if (when === 'before') await retire('tool_a');
    expect(await shown()).toMatchObject({ status: 'withdrawn', reason_code: 'source_retired' });
  });
});

it('another source that calls fixed what it saw later on the day of a proof refutes the proof', async () => {
  await scan('tool_a', 2, true);
  await scan('tool_b', 2, true);
  await scan('tool_b', 2.2, false);
  await scan('tool_a', 2.5, true);
  await scan('tool_a', 2.7, 'fixed');
  expect(await shown()).toMatchObject({ status: 'remediated', reason_code: 'source_fixed' });
});

describe('a source that has not scanned for long', () => {
  it('keeps its findings open, whatever another source proves', async () => {
    await scan('tool_a', 1, true);
    await scan('tool_b', 1, true);
    await scan('tool_b', 200, false);
    expect(await shown()).toMatchObject({ status: 'open', still_open_because: [{ code: 'still_reported', source: { provider: 'tool_a' }, stale: true }] });
  });
});
