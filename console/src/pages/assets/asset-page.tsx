import { Button, NativeSelect, TagsInput, TextInput } from '@mantine/core';
import type { Exposure, Level, ResultOf } from '@rrs/client';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog, field } from '../../parts/dialog.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { SeverityChip } from '../../parts/severity.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';

type Details = ResultOf<'getAsset'>;

export function AssetPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const asset = useApi('getAsset', { path: { id } });
  const [isEditing, setEditing] = useState(false);
  const mayEdit = useMay('assets:manage');
  return (
    <Page
      title={asset.data?.name ?? 'Asset'}
      info={asset.data?.retired ? 'Retired' : undefined}
      actions={
        mayEdit &&
        asset.data && (
          <Button variant="default" onClick={() => setEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      <Show query={asset} rows={8}>
        {(data) => (
          <>
            <Facts
              rows={[
                ['Type', term(data.type)],
                ['Criticality', term(data.criticality)],
                ['Exposure', term(data.exposure)],
                ['Owner', data.owner],
                ['Tags', data.tags.join(', ')],
                ['Known since', <Time key="since" at={data.created_at} />],
                ['ID', <Copy key="id" text={data.id} />],
              ]}
            />
            <Findings id={data.id} />
            <Versions id={data.id} />
            {isEditing && <Edit asset={data} onClose={() => setEditing(false)} />}
          </>
        )}
      </Show>
    </Page>
  );
}

function Findings({ id }: { id: string }) {
  const findings = useApi('listFindings', {
    query: { asset_id: id, status: ['open', 'in_progress', 'remediated'], sort: '-risk_score', limit: 20, total: 'bounded' },
  });
  return (
    <Section
      title="Findings"
      actions={
        <Link to="/findings" search={{ asset_id: id }}>
          All findings of this asset
        </Link>
      }
    >
      <Show query={findings} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No active findings" />
          ) : (
            <SimpleTable
              label="Findings"
              rows={data}
              keyOf={(finding) => finding.id}
              columns={[
                { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
                { label: 'Risk', cell: ({ risk_score }) => Math.round(risk_score) },
                {
                  label: 'Finding',
                  cell: ({ id: finding, title }) => (
                    <Link to="/findings/$id" params={{ id: finding }}>
                      {title}
                    </Link>
                  ),
                },
                { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
                {
                  label: 'Due',
                  cell: ({ due_at, overdue }) => (
                    <span className={overdue ? 'bad' : undefined}>
                      <Time at={due_at} />
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

function Versions({ id }: { id: string }) {
  const versions = useApi('listAssetVersions', { path: { id }, query: { limit: 20 } });
  return (
    <Section title="Versions">
      <Show query={versions}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">No scan named a version of this asset.</p>
          ) : (
            <SimpleTable
              label="Versions"
              rows={data}
              keyOf={({ name, track }) => `${track} ${name}`}
              columns={[
                { label: 'Version', cell: ({ name }) => <code>{name}</code> },
                { label: 'Track', cell: ({ track }) => track },
                { label: 'First scan', cell: ({ first_scan }) => <Time at={first_scan} /> },
                { label: 'Last scan', cell: ({ last_scan }) => <Time at={last_scan} /> },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

function Edit({ asset, onClose }: { asset: Details; onClose: () => void }) {
  const [tags, setTags] = useState(asset.tags);
  const change = useChange('updateAsset', ['getAsset', 'listAssets', 'listFindings'], () => {
    announce('The asset is changed. Its findings have a new risk score.');
    onClose();
  });
  const levels = ['low', 'medium', 'high', 'critical'].map((value) => ({ value, label: term(value) }));
  const exposures = ['internet', 'internal', 'unknown'].map((value) => ({ value, label: term(value) }));
  const submit = (data: FormData) =>
    change.mutate({
      path: { id: asset.id },
      header: { 'If-Match': `"${asset.version}"` },
      body: {
        criticality: field(data, 'criticality') as Level,
        exposure: field(data, 'exposure') as Exposure,
        owner: field(data, 'owner') ?? null,
        tags,
      },
    });
  return (
    <Dialog title={`Edit ${asset.name}`} action="Save" onClose={onClose} onSubmit={submit} isBusy={change.isPending} error={change.error}>
      <NativeSelect data-autofocus name="criticality" label="Criticality" data={levels} defaultValue={asset.criticality} />
      <NativeSelect name="exposure" label="Exposure" data={exposures} defaultValue={asset.exposure} />
      <TextInput name="owner" label="Owner" defaultValue={asset.owner ?? ''} />
      <TagsInput label="Tags" value={tags} onChange={setTags} />
    </Dialog>
  );
}
