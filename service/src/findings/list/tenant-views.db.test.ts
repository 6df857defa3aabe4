import { beforeEach, expect, it } from 'vitest';
import { inLib, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const orgs: string[] = [];
beforeEach(async () => {
  for (const name of ['a', 'b']) {
    const org = await engine.organization();
    await engine.run(org, [inLib(name)]);
    orgs.push(org);
  }
});

it.each(['tenant_findings', 'tenant_assets'])('%s shows only the rows of the current organization, no rows without one, and is read-only', async (view) => {
  const asApp = async (setting: string, sql: string) => {
    await engine.admin().query(`begin; set local role rrs_app; ${setting}`);
    try {
      return (await engine.admin().query(sql)).rows;
    } finally {
      await engine.admin().query('rollback');
    }
  };
  for (const org of orgs) expect(await asApp(`set local app.org_id = '${org}'`, `select distinct org_id from ${view}`)).toEqual([{ org_id: org }]);
  await expect(asApp('', `select * from ${view}`)).rejects.toThrow(/app\.org_id|uuid/);
  await expect(asApp(`set local app.org_id = '${orgs[0]}'`, `update ${view} set org_id = org_id`)).rejects.toThrow(/permission denied/);
});
