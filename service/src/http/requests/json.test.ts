import fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { VisibleName } from '../schemas.ts';
import { installSerializers } from './json.ts';

it('responses with alternatives are written without warnings about formats', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const app = fastify();
  installSerializers(app);
  const asset = { name: 'shop' };
  const named = { type: 'object', properties: { name: VisibleName(1, 100) } };
  const schema = { response: { 200: { type: 'object', properties: { asset: { anyOf: [named, { type: 'string' }] } } } } };
  app.get('/', { schema }, async () => ({ asset }));
  const response = await app.inject('/');
  expect(response.json()).toEqual({ asset });
  expect(warned.mock.calls).toEqual([]);
  warned.mockRestore();
  await app.close();
});
