import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { pipelineToken } from './pipeline-token.ts';

const jwt = (exp: number): string => `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.x`;

/** Gives out tokens as GitHub does to jobs with the permission "id-token: write". */
async function github(answer: (asked: number) => { status: number; body: unknown }) {
  const requests: { url: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer(({ url, headers: { authorization } }, response) => {
    requests.push({ url, authorization });
    const { status, body } = answer(requests.length);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?version=2`;
  return { requests, env: { GITHUB_ACTIONS: 'true', RRS_ORGANIZATION: 'our-id', ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret' } };
}

it('is the one that the CI system put into the environment', () => {
  expect(pipelineToken({ RRS_TOKEN: 'a.b.c' })).toBe('a.b.c');
  expect(pipelineToken({})).toBeUndefined();
  expect(pipelineToken({ RRS_ORGANIZATION: 'our-id' })).toBeUndefined();
});

it('is requested from GitHub for the organization, and again before it expires', async () => {
  const soon = Math.floor(Date.now() / 1000) + 30;
  const { requests, env } = await github((asked) => ({ status: 200, body: { value: jwt(asked === 1 ? soon : soon + 600) } }));
  const token = pipelineToken(env);
  if (typeof token !== 'function') throw new Error('expected a function');
  expect(await token()).toBe(jwt(soon));
  expect(await token()).toBe(jwt(soon + 600));
  expect(await token()).toBe(jwt(soon + 600));
  expect(requests).toEqual(Array(2).fill({ url: '/token?version=2&audience=rrs%3Aour-id', authorization: 'Bearer secret' }));
});

it('that GitHub refuses is reported with what to do', async () => {
  const { env } = await github(() => ({ status: 403, body: {} }));
  const token = pipelineToken(env);
  await expect(typeof token === 'function' ? token() : null).rejects.toThrow(/status 403.+RRS_API_KEY/);
  expect(() => pipelineToken({ GITHUB_ACTIONS: 'true', RRS_ORGANIZATION: 'our-id' })).toThrow(/id-token: write/);
});
