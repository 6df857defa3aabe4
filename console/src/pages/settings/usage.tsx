import type { ResultOf } from '@rrs/client';
import { useApi } from '../../api/client.ts';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Show } from '../../parts/states.tsx';
import { bytes, number } from '../../parts/words.ts';
import { SettingsPage } from './settings-page.tsx';

const labels: Readonly<Record<keyof ResultOf<'getOrganizationUsage'>, string>> = {
  findings: 'Findings',
  imports: 'Imports and their report files',
  sync_runs: 'Runs of connections',
  run_records: 'Records of what runs collected',
  events: 'Events',
  deliveries: 'Webhook deliveries',
  evidence_packages: 'Evidence packages',
  artifacts: 'Artifacts',
  idempotency_keys: 'Responses kept for repeated requests',
};

/** What the organization stores. */
export function Usage() {
  const usage = useApi('getOrganizationUsage', {});
  return (
    <SettingsPage title="Usage" about="What your organization stores. How long it is kept is a policy of the organization.">
      <Show query={usage} rows={9}>
        {(data) => (
          <SimpleTable
            label="Usage"
            rows={Object.entries(labels).map(([name, label]) => ({ name, label, ...data[name as keyof typeof labels] }))}
            keyOf={({ name }) => name}
            columns={[
              { label: 'What', cell: ({ label }) => label },
              { label: 'Number', align: 'end', cell: ({ count }) => number(count) },
              { label: 'Size', align: 'end', cell: (row) => bytes(row.bytes) },
            ]}
          />
        )}
      </Show>
    </SettingsPage>
  );
}
