import type { Location } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';
import { componentOf } from './component.ts';
import { installedSql } from './installed.ts';

const engine = useImports();

it.each<Location>([
  { component: 'libssl3', ecosystem: 'deb' },
  { component: 'openssl/libssl3', ecosystem: 'deb' },
  { component: 'LibSSL3', ecosystem: 'deb', purl: 'not a package URL' },
  { component: 'openssl', purl: 'pkg:deb/debian/libssl3@3.0.11-1?distro=debian-12' },
  { component: 'openssl', ecosystem: 'deb', purl: 'pkg:generic/libssl3' },
  { component: 'openssl', purl: 'pkg:deb/debian/libssl3' },
  { purl: 'pkg:deb/libssl3?arch=amd64#usr/lib' },
  { purl: 'pkg://rpm/redhat/Openssl-libs@1:3.0?epoch=1' },
  { purl: 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1' },
  { purl: 'PKG:apk/alpine/libc%2b%2B@1/2' },
])('is the package of the component: $component $purl', async (location) => {
  const org = await engine.organization();
  const { rows } = await engine
    .db()
    .withTenant({ orgId: org }, (tx) => sql<{ name: string }>`select ${installedSql(sql`${JSON.stringify(location)}::jsonb`)} as name`.execute(tx));
  expect(rows).toEqual([{ name: componentOf(location)?.binary }]);
});
