import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;
type Severity = Observation['severity'];

interface Shown {
  id: string;
  status: string;
  reason_code: string | null;
  severity: Severity;
  merged_into: string | null;
  asset: { id: string };
  decisions: { state: string }[];
  sightings: { track: string; state: string }[];
}
let count = 0;

/** An image whose builds are scanned on days of January, and its findings by component. */
function image() {
  const name = `registry.example.com/lines-${++count}`;
  const cve = `CVE-2026-${80_000 + count}`;
  const report = async (version: string, day: number, found: Readonly<Record<string, Severity>>, partial = false) => {
    const asset: Asset = { type: 'container_image', name: `${name}:${version}` };
    const items = Object.entries(found).map(([component, severity]) => seen({ asset, severity, vulnerability_ids: [cve], location: { component } }));
    const started_at = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
    const row = await service.run([...items, { run: { asset } }], { scope: { started_at, coverage: partial ? 'partial' : 'complete' } });
    expect(row.status).toMatch(/^(succeeded|needs_confirmation)$/);
    return row;
  };
  const find = async (component: string): Promise<Shown> => {
    const { rows } = await service.engine
      .admin()
      .query('select id from findings where org_id = $1 and weakness = $2 and component = $3', [service.api().ours.id, cve, component]);
    return get<Shown>(`/findings/${rows[0]?.id}`);
  };
  const patch = async (component: string, body: object) =>
    expect(await send('PATCH', `/findings/${(await find(component)).id}`, body)).toMatchObject({ status: 200 });
  return { report, find, patch, name };
}
const falsePositive = { status: 'false_positive', justification: 'code_not_reachable' };
const acceptance = () => ({ status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: new Date(Date.now() + 86_400_000).toISOString() });

describe('a late report that separates release lines', () => {
  it('does not leave a risk accepted that may be higher on one of them', async () => {
    const { report, find, patch } = image();
    await report('1.0.0', 5, { x: 'critical' });
    await report('1.0.0', 15, { x: 'low' });
    await patch('x', acceptance());
    await report('1.0.1', 10, { y: 'low' }, true);
    expect(await find('x')).toMatchObject({ status: 'open', reason_code: 'risk_increased', severity: 'critical' });
  });

  it('keeps a dismissal, also of a finding that the scan of the other line did not show', async () => {
    const { report, find, patch } = image();
    await report('1.0.0', 1, { x: 'high', z: 'high' });
    await patch('x', falsePositive);
    await patch('z', acceptance());
    await report('1.0.0', 15, { y: 'low' });
    await report('1.0.1', 10, { y: 'low' }, true);
    expect(await find('x')).toMatchObject({ status: 'false_positive', decisions: [{ state: 'active' }] });
    expect(await find('z')).toMatchObject({ status: 'risk_accepted', decisions: [{ state: 'active' }] });
  });

  it('separates findings that a person merged, which have their lines when they are apart again', async () => {
    const { report, find } = image();
    await report('1.0.0', 15, { x: 'low', y: 'high' });
    const [x, y] = [(await find('x')).id, (await find('y')).id];
    expect(await send('POST', `/findings/${y}/merge`, { into: x, reason: 'one library' })).toMatchObject({ status: 200 });
    await report('1.0.1', 10, { z: 'low' });
    const read = (id: string) => get<Shown>(`/findings/${id}`);
    const merged = (await read(x)).merged_into === null ? y : x;
    expect(await send('POST', `/findings/${merged}/split`, { reason: 'two libraries' })).toMatchObject({ status: 200 });
    for (const id of [x, y]) expect(await read(id)).toMatchObject({ status: 'open', sightings: [{ track: '1.0.x', state: 'present' }] });
    await report('1.0.1', 20, { z: 'low' });
    for (const id of [x, y]) expect(await read(id)).toMatchObject({ status: 'open' });
  });

  it('opens what only the other line no longer had, after its merged asset is separate again', async () => {
    const { report, find, name } = image();
    const other: Asset = { type: 'container_image', name: `${name}-other:prod` };
    await service.run([seen({ asset: other, vulnerability_ids: [`CVE-2026-9${String(count).padStart(4, '0')}`] }), { run: { asset: other } }], {
      scope: { started_at: '2026-01-01T00:00:00Z', coverage: 'complete' },
    });
    const otherId = (await get<{ data: { id: string; name: string }[] }>(`/assets?name=${name}-other`)).data[0]?.id ?? '';
    await report('1.0.0', 1, { x: 'high', w: 'high' });
    const own = (await find('x')).asset.id;
    expect(await send('POST', `/assets/${own}/merge`, { into: otherId })).toMatchObject({ status: 200 });
    await report('1.0.0', 15, { y: 'low', w: 'high' });
    await report('1.0.1', 10, { y: 'low' }, true);
    expect(await find('x')).toMatchObject({ status: 'open' });
    const answer = await send('POST', `/assets/${own}/unmerge`, { reason: 'two' });
    expect(answer).toMatchObject({ status: 200 });
    for (const component of ['x', 'y', 'w']) expect(await find(component)).toMatchObject({ status: 'open', asset: { id: own } });
    await report('1.0.1', 20, { y: 'low' });
    expect(await find('w')).toMatchObject({ status: 'open' });
  });

  it('takes findings out of what waits for confirmation if they are on the other line', async () => {
    const { report, find } = image();
    const components = Array.from({ length: 30 }, (_, n) => `lib-${n}`);
    await report('1.0.0', 1, Object.fromEntries(components.map((component) => [component, 'high' as const])));
    const held = await report('1.0.0', 15, {});
    expect(held.status).toBe('needs_confirmation');
    await report('1.0.1', 10, { 'lib-0': 'high' }, true);
    expect(await send('POST', `/imports/${held.id}/confirm`)).toMatchObject({ status: 200 });
    for (const component of components.slice(0, 3)) {
      expect(await find(component)).toMatchObject({
        status: 'open',
        sightings: expect.arrayContaining([expect.objectContaining({ track: '1.x', state: 'present' })]),
      });
    }
  });
});
