import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type * as Verifier from './index.ts';
import { buildPackage, zipOf } from './testing/build.ts';

const dist = new URL('../dist/', import.meta.url);
const text = (name: string) => readFileSync(new URL(name, dist), 'utf8');

beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.ts', import.meta.url))], { stdio: 'pipe' });
});

test('the browser module has no imports and verifies packages', async () => {
  expect(text('rrs-verify.js')).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|node:/m);
  const verifier = (await import(new URL('rrs-verify.js', dist).href)) as typeof Verifier;
  const built = await buildPackage();
  const zip = await zipOf(built);
  const verify = (bytes: Uint8Array) => verifier.verifyPackage(verifier.bytesSource(bytes), built.trust, verifier.browserPlatform());
  expect(await verify(zip)).toMatchObject({ verdict: 'verified', failures: [] });
  expect(await verify(Buffer.from(zip).fill(0, 100, 101))).toMatchObject({ verdict: 'failed' });
});

test('the page allows only its own script and style and no network access', () => {
  const page = text('rrs-verify.html');
  const hashOf = (tag: string) => {
    const [, content = ''] = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(page) ?? [];
    return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
  };
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hashOf('script')}`,
    `style-src ${hashOf('style')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(page).not.toMatch(/<(?:link|img|iframe)\b|<script[^>]+src/);
});
