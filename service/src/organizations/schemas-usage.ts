import { type Static, type TProperties, Type } from 'typebox';
import { Named } from '../http/schemas.ts';

const number = (description: string) => Type.Integer({ minimum: 0, description, examples: [1_200] });
const rows = (what: string) => ({ count: number(`Number of ${what}`), bytes: number('Estimated size of the rows in the database, without indexes') });
const files = (what: string, file: string) => ({
  count: number(`Number of ${what}`),
  files: number(`Stored ${file}. Equal files are stored and counted once`),
  bytes: number('Size of these files in bytes'),
});
const part = <Properties extends TProperties>(description: string, properties: Properties) => Type.Object(properties, { description });

export const OrganizationUsage = Named('OrganizationUsage', {
  findings: part('Findings', rows('findings')),
  imports: part('Uploaded reports', files('imports', 'report files')),
  sync_runs: part('Runs of connections', rows('runs')),
  run_records: part('Records of what runs collected', files('imports of runs', 'records')),
  events: part('Events', rows('events')),
  deliveries: part('Deliveries to webhooks', rows('deliveries')),
  evidence_packages: part('Evidence packages', {
    count: number('Number of packages, including failed ones'),
    bytes: number('Size of their archives in bytes'),
  }),
  artifacts: part('Artifacts', files('artifacts, including links and removed ones', 'files of artifacts that were not removed')),
  idempotency_keys: part('Responses that are stored for idempotency keys', rows('stored responses')),
});
export type OrganizationUsage = Static<typeof OrganizationUsage>;
