import { expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages({ verifies: true });

interface Listed {
  data: { id: string; asset: { id: string } }[];
}
interface Sealed {
  package_id: string;
  findings: { id: string; merged: { id: string }[] }[];
}

const found = async (asset: string) => (await world.get<Listed>(`/findings?asset=${asset}&sort=created_at`)).data;
const packagesOf = async (item: string) =>
  (await world.get<{ data: { package_id: string; hashes: unknown }[] }>(`/riskops-evidence/packages?work_item_id=${item}`)).data.map(
    ({ package_id, hashes }) => ({ package_id, hashes }),
  );
const seal = async (item: string): Promise<Sealed> => {
  const { package_id } = await world.seal(item);
  const lines = (await world.download(package_id, 'jsonl')).toString().trimEnd().split('\n');
  return { package_id, findings: lines.map((line) => JSON.parse(line)) };
};

interface Merge {
  findings: Listed['data'];
  merge(): Promise<unknown>;
  undo(): Promise<unknown>;
}

const ways: [name: string, prepare: () => Promise<Merge>][] = [
  [
    'of two findings that a person merges',
    async () => {
      await world.scan('by-hand', ['openssl', 'libssl']);
      const findings = await found('by-hand');
      const [older, newer] = findings.map(({ id }) => id);
      return {
        findings,
        merge: () => world.post(`/findings/${newer}/merge`, { into: older, reason: 'one library' }),
        undo: () => world.post(`/findings/${newer}/split`, { reason: 'two libraries' }),
      };
    },
  ],
  [
    'of two assets that a person merges',
    async () => {
      await world.scan('one-asset', ['openssl']);
      await world.scan('other-asset', ['openssl']);
      const findings = [...(await found('one-asset')), ...(await found('other-asset'))];
      const [older, newer] = findings.map(({ asset }) => asset.id);
      return {
        findings,
        merge: () => world.post(`/assets/${newer}/merge`, { into: older, reason: 'one image' }),
        undo: () => world.post(`/assets/${newer}/unmerge`, { reason: 'two images' }),
      };
    },
  ],
];

it.each(ways)('packages and work items %s keep their ids, and the packages their contents', async (_name, prepare) => {
  const { findings, merge, undo } = await prepare();
  const [older = '', newer = ''] = findings.map(({ id }) => id);
  const { id: item } = await world.post<{ id: string }>('/work-items', { title: 'Update', finding_ids: [newer] });
  const before = await seal(item);
  expect(before.findings).toMatchObject([{ id: newer, merged: [] }]);
  const stored = await packagesOf(item);
  const bytes = await world.download(before.package_id);

  await merge();
  expect(await world.get(`/findings/${newer}/identity`)).toMatchObject({ merged_into: older });
  expect(await packagesOf(item)).toEqual(stored);
  expect(await world.download(before.package_id)).toEqual(bytes);
  expect(await world.get(`/work-items/${item}`)).toMatchObject({ id: item, findings: { open: 1 } });
  const during = await seal(item);
  expect(during.findings).toMatchObject([{ id: older, merged: [{ id: newer }] }]);
  expect((await packagesOf(item)).map(({ package_id }) => package_id).toSorted()).toEqual([before.package_id, during.package_id].toSorted());

  await undo();
  const after = await seal(item);
  expect(after.findings.map(({ id, merged }) => [id, merged])).toContainEqual([newer, []]);
  expect(await world.download(before.package_id)).toEqual(bytes);
});
