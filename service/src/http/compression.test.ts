import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import compress from '@fastify/compress';
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { compression } from './compression.ts';

const LONG = { text: 'a page of findings '.repeat(500) };

async function get(path: string, headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') {
  const app = Fastify();
  await app.register(compress, compression);
  app.get('/long', () => LONG);
  app.get('/short', () => ({ text: 'short' }));
  app.get('/problem', (_, reply) => reply.type('application/problem+json').send(JSON.stringify(LONG)));
  app.get('/export', (_, reply) => reply.type('application/x-ndjson').send(Readable.from([`${JSON.stringify(LONG)}\n`, `${JSON.stringify(LONG)}\n`])));
  app.get('/events', (_, reply) => reply.type('text/event-stream').send(Readable.from(['data: 1\n\n'.repeat(500)])));
  app.get('/zip', (_, reply) => reply.type('application/zip').send(Buffer.alloc(5_000)));
  app.get('/file', { compress: false }, (_, reply) => reply.type('application/json').send(Buffer.alloc(5_000)));
  app.get('/range', (_, reply) => reply.code(206).header('content-range', 'bytes 0-4999/9000').type('text/plain').send('x'.repeat(5_000)));
  const response = await app.inject({ method, url: path, headers });
  await app.close();
  return { encoding: response.headers['content-encoding'], vary: response.headers.vary, bytes: response.rawPayload, headers: response.headers };
}

it('compresses long responses with what the caller accepts, brotli first', async () => {
  const br = await get('/long', { 'accept-encoding': 'gzip, deflate, br' });
  expect([br.encoding, br.vary]).toEqual(['br', 'accept-encoding']);
  expect(JSON.parse(brotliDecompressSync(br.bytes).toString())).toEqual(LONG);
  const gzip = await get('/long', { 'accept-encoding': 'gzip, deflate' });
  expect([gzip.encoding, gzip.headers['content-length']]).toEqual(['gzip', String(gzip.bytes.length)]);
  expect(JSON.parse(gunzipSync(gzip.bytes).toString())).toEqual(LONG);
  expect((await get('/problem', { 'accept-encoding': 'gzip' })).encoding).toBe('gzip');
  expect(gunzipSync((await get('/export', { 'accept-encoding': 'gzip' })).bytes).toString()).toBe(`${JSON.stringify(LONG)}\n`.repeat(2));
});

it.each([
  ['no Accept-Encoding', '/long', {}],
  ['an encoding that the service does not have', '/long', { 'accept-encoding': 'deflate' }],
  ['a refused encoding', '/long', { 'accept-encoding': 'gzip;q=0, br;q=0' }],
  ['a short response', '/short', { 'accept-encoding': 'br, gzip' }],
  ['an event stream', '/events', { 'accept-encoding': 'br, gzip' }],
  ['a compressed file', '/zip', { 'accept-encoding': 'br, gzip' }],
  ['a stored file', '/file', { 'accept-encoding': 'br, gzip' }],
  ['a part of a file', '/range', { 'accept-encoding': 'br, gzip' }],
])('does not compress %s', async (_, path, headers) => {
  expect((await get(path, headers)).encoding).toBeUndefined();
});

it('answers HEAD with the length of the uncompressed response and no body', async () => {
  const head = await get('/long', { 'accept-encoding': 'gzip' }, 'HEAD');
  expect([head.bytes.length, head.encoding, head.headers['content-length']]).toEqual([0, undefined, String(JSON.stringify(LONG).length)]);
});
