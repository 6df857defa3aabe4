import { Button } from '@mantine/core';
import { DownloadIcon } from '@primer/octicons-react';
import type { ResultOf } from '@rrs/client';
import { useApi } from '../../../api/client.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { saveFile } from '../fetch-file.ts';
import { EvidenceNav } from '../packages/evidence-nav.tsx';

type Keys = ResultOf<'listEvidenceKeys'>;
type Key = Keys['keys'][number];

const uses: Readonly<Record<Key['use'], string>> = { package: 'Packages', log: 'Log entries', note: 'Checkpoints' };
const statusOf = ({ revoked_at, valid_to }: Key): string => (revoked_at ? 'revoked' : valid_to ? 'replaced' : 'in use');

/** The keys with which recipients verify packages. */
export function KeysPage() {
  const keys = useApi('listEvidenceKeys', {});
  return (
    <Page
      title="Evidence"
      bar={<EvidenceNav />}
      actions={
        keys.data && (
          <Button variant="default" leftSection={<DownloadIcon size={14} />} onClick={() => saveKeys(keys.data)}>
            Save keys.json
          </Button>
        )
      }
    >
      <Section title="Signing keys">
        <p className="dim">
          Give recipients the fingerprints in another way than this service: by phone, in the contract or on paper. Keys that come only from here prove nothing
          to them.
        </p>
        <Show query={keys}>
          {({ keys: rows }) => (rows.length === 0 ? <Empty title="No keys yet">The first evidence package creates them.</Empty> : <KeyTable rows={rows} />)}
        </Show>
      </Section>
    </Page>
  );
}

function KeyTable({ rows }: { rows: readonly Key[] }) {
  return (
    <SimpleTable
      label="Signing keys"
      rows={rows}
      keyOf={({ key_id, use }) => `${use} ${key_id}`}
      columns={[
        { label: 'Signs', cell: ({ use }) => uses[use] },
        { label: 'Status', cell: (key) => <StatusMark status={statusOf(key)} /> },
        { label: 'Fingerprint', cell: ({ key_id }) => <Copy text={key_id} shown={key_id} /> },
        { label: 'Algorithm', cell: ({ algorithm }) => algorithm },
        { label: 'Since', cell: ({ valid_from }) => <Time at={valid_from} /> },
        {
          label: 'Until',
          cell: ({ valid_to, revoked_at, revoked_reason }) => (
            <span title={revoked_reason ?? undefined}>
              <Time at={revoked_at ?? valid_to} />
            </span>
          ),
        },
        { label: 'Public key', cell: ({ public_key_pem }) => <Copy text={public_key_pem} shown="PEM" label="Copy the public key" /> },
      ]}
    />
  );
}

function saveKeys(keys: Keys): void {
  saveFile(new File([JSON.stringify(keys, null, 2)], 'keys.json', { type: 'application/json' }));
}
