import { expect, test } from 'vitest';
import { bytesSource } from './archive/source.ts';
import { nodePlatform } from './node.ts';
import { browserPlatform } from './platform.ts';
import { testAuthority } from './testing/authority.ts';
import { buildPackage, zipOf } from './testing/build.ts';
import { emptyTrust } from './trust/trust.ts';
import { verifyPackage } from './verify.ts';

test('a valid package is verified with keys and consistent without them', async () => {
  const built = await buildPackage();
  const zip = await zipOf(built);
  const report = await verifyPackage(bytesSource(zip), built.trust, nodePlatform());
  expect(report.failures).toEqual([]);
  expect(report.layers.map(({ name, result }) => `${name} ${result}`)).toMatchInlineSnapshot(`
    [
      "container pass",
      "content pass",
      "evidence pass",
      "rendering pass",
      "audit_trail pass",
      "signature pass",
      "log pass",
      "history pass",
      "time not_present",
    ]
  `);
  expect(report.verdict).toBe('verified');
  expect(await verifyPackage(bytesSource(zip), built.trust, browserPlatform())).toEqual(report);
  const unproven = await verifyPackage(bytesSource(zip), emptyTrust(), nodePlatform());
  expect(unproven.verdict).toBe('consistent');
});

test('a stamped package is verified', async () => {
  const authority = await testAuthority();
  const built = await buildPackage({ stamps: [authority.stamp] });
  const report = await verifyPackage(bytesSource(await zipOf(built)), { ...built.trust, timestampRoots: [authority.root] }, nodePlatform());
  expect(report).toMatchObject({ verdict: 'verified', failures: [] });
});
