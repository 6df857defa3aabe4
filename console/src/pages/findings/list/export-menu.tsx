import { Button, Menu } from '@mantine/core';
import { DownloadIcon } from '@primer/octicons-react';
import { change, type Query, writeQuery } from '../../../lists/query.ts';
import { copy } from '../../../parts/copy.tsx';

const formats = { csv: 'CSV', ndjson: 'JSON lines', sarif: 'SARIF', 'cyclonedx-vex': 'CycloneDX VEX', openvex: 'OpenVEX' };

/** Downloads all findings of this filter, or copies the request. */
export function ExportMenu({ query }: { query: Query }) {
  const filter = change(query, { open: null, sort: null });
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(formats).map(([format, label]) => (
          <Menu.Item key={format} component="a" href={`/api/v1/findings/export${writeQuery({ ...filter, format })}`} download>
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          onClick={() =>
            void copy(`curl -H "Authorization: Bearer $RRS_API_KEY" "${location.origin}/api/v1/findings${writeQuery(change(query, { open: null }))}"`)
          }
        >
          Copy as curl
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
