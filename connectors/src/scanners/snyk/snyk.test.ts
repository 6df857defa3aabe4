import { obj } from '@rrs/scan-reports/read.ts';
import { expect, it, onTestFinished } from 'vitest';
import type { Json } from '../../core/contract.ts';
import { serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { snykFake } from './fake.ts';
import { snyk } from './index.ts';

it('names inactive projects in their issues, but covers them only partially', async () => {
  const fake = await serveFake(
    {
      ...snykFake,
      answer: (options) => {
        const handle = snykFake.answer(options);
        return async (request) => {
          const response = await handle(request);
          const text = JSON.stringify(response.body).replaceAll('"active"', '"inactive"');
          return request.url.pathname.endsWith('/projects') ? { ...response, body: obj(JSON.parse(text)) as Record<string, Json> } : response;
        };
      },
    },
    { pageSize: 10 },
  );
  onTestFinished(() => fake.close());
  const { items, covers, partiallyCovers } = await collect(snyk, contextOf(snyk, snykFake.settings(fake.origin)));
  const names = ['acme/shop-0', 'acme/shop-1', 'acme/shop-2'];
  expect(new Set(items.map((item) => ('observation' in item ? item.observation.asset?.name : '')))).toEqual(new Set(names));
  expect({ covers, partiallyCovers }).toEqual({ covers: [], partiallyCovers: [...names, 'acme/shop-3'].map((name) => `repository ${name}`) });
});
