import type { Asset } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { watchSteps } from '../../../testing/findings/busiest-steps.ts';
import { inLib } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const watch = watchSteps();
const service = useImportsWithApi((engine) => watch.explain(engine));

const FINDINGS = 250;
/** Comparing each finding with each other one takes 62,500 rows. */
const MOST_ROWS = 5_000;

const images = ['one', 'two'].map((name): Asset => ({ type: 'container_image', name: `registry.example.com/${name}:prod` }));
const [one, two] = images as [Asset, Asset];
/** Each image has half of its findings in common with the other one. */
const found = (asset: Asset, from: number, count = FINDINGS) => Array.from({ length: count }, (_, n) => inLib(`lib${from + n}`, { asset }));
const idOf = async ({ name }: Asset): Promise<string> => {
  const { data } = await service.get<{ data: { id: string }[] }>(`/assets?name=${name.replace(/:prod$/, '')}`);
  return data[0]?.id ?? '';
};

it('merging two assets with the same findings and separating them compares no finding with each other one', { timeout: 120_000 }, async () => {
  await service.scan(one, found(one, 0), 1);
  await service.scan(two, found(two, FINDINGS / 2), 2);
  const ids = { one: await idOf(one), two: await idOf(two) };
  watch.forget();
  for (let round = 0; round < 2; round++) {
    const day = 10 * round;
    expect(await service.send('POST', `/assets/${ids.two}/merge`, { into: ids.one })).toMatchObject({ status: 200 });
    await service.scan(one, found(one, 10), day + 3);
    await service.scan(two, found(two, FINDINGS / 2 + 10), day + 4);
    expect(await service.send('POST', `/assets/${ids.two}/unmerge`, { reason: 'two images' })).toMatchObject({ status: 200 });
  }
  watch.expectAtMost({ rows: MOST_ROWS, statements: 200 });
});
