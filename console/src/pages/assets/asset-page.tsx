import { ActionIcon, Button } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';
import type { SameBuild } from '@rrs/client';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Copy } from '../../parts/copy.tsx';
import { Menu } from '../../parts/layers/menu.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { SeverityChip } from '../../parts/severity.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Boundary, Empty, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { number, shortName, term } from '../../parts/words.ts';
import css from './asset-page.module.css';

const ACTIVE = 'open,in_progress,remediated';

const Tracks = lazy(async () => ({ default: (await import('./tracks.tsx')).Tracks }));
const dialogs = {
  edit: lazy(async () => ({ default: (await import('./edit-dialog.tsx')).EditDialog })),
  merge: lazy(async () => ({ default: (await import('./merge-dialog.tsx')).MergeDialog })),
  unmerge: lazy(async () => ({ default: (await import('./merge-dialog.tsx')).UnmergeDialog })),
  retire: lazy(async () => ({ default: (await import('./merge-dialog.tsx')).RetireDialog })),
};

export function AssetPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const asset = useApi('getAsset', { path: { id } });
  const [open, setOpen] = useState<keyof typeof dialogs | null>(null);
  const mayEdit = useMay('assets:manage');
  const Open = open && dialogs[open];
  return (
    <Page
      title={asset.data?.name ?? 'Asset'}
      info={asset.data?.retired ? 'Retired' : undefined}
      actions={
        mayEdit &&
        asset.data && (
          <>
            <Button variant="default" onClick={() => setOpen('edit')}>
              Edit
            </Button>
            <Menu
              target={
                <ActionIcon variant="default" aria-label="More actions">
                  <KebabHorizontalIcon />
                </ActionIcon>
              }
              actions={[
                { label: 'Merge with another asset', onChoose: () => setOpen('merge') },
                { label: 'Undo the last merge', onChoose: () => setOpen('unmerge') },
                { label: asset.data.retired ? 'Put back in use' : 'Retire', onChoose: () => setOpen('retire') },
              ]}
            />
          </>
        )
      }
    >
      <Show query={asset} rows={8}>
        {(data) => (
          <>
            {data.merged_into !== null && (
              <p>
                This asset was merged into{' '}
                <Link className={css.inText} to="/assets/$id" params={{ id: data.merged_into }}>
                  another one
                </Link>
                , which has its findings.
              </p>
            )}
            <Facts
              rows={[
                ['Type', term(data.type)],
                ['Criticality', term(data.criticality)],
                ['Exposure', term(data.exposure)],
                ['Owner', data.owner],
                ['Tags', data.tags.join(', ')],
                [
                  'Active findings',
                  <Link key="active" to="/findings" search={{ asset_id: data.id, status: ACTIVE, sort: '-risk_score' }}>
                    {number(data.findings.active)}
                  </Link>,
                ],
                [
                  'Also known as',
                  data.identifiers.length > 1 &&
                    data.identifiers.map(({ kind, value }) => (
                      <div key={`${kind} ${value}`}>
                        <span className="dim">{term(kind)}</span> <span className="mono">{value}</span>
                      </div>
                    )),
                ],
                [
                  'May be the same',
                  data.similar.length > 0 &&
                    data.similar.map(({ id: other, name, shared }) => (
                      <div key={other}>
                        <Link className={css.inText} to="/assets/$id" params={{ id: other }}>
                          {name}
                        </Link>{' '}
                        <span className="dim">{shared.map(({ kind, value }) => (value === name ? term(kind) : `${term(kind)} ${value}`)).join(', ')}</span>
                      </div>
                    )),
                ],
                ['Known since', <Time key="since" at={data.created_at} />],
                ['ID', <Copy key="id" text={data.id} />],
              ].map(([name, value]) => [String(name), value === false ? null : value] as const)}
            />
            <Boundary>
              <Findings id={data.id} />
            </Boundary>
            <Boundary>
              <Suspense>
                <Tracks id={data.id} />
              </Suspense>
            </Boundary>
            <Boundary>
              <Versions id={data.id} />
            </Boundary>
            <Suspense>{Open && <Open asset={data} onClose={() => setOpen(null)} />}</Suspense>
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
                  cell: ({ due_at, overdue }) => <Due at={due_at} isOverdue={overdue} />,
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
    <Section title="Builds">
      <Show query={versions}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">No scan named a build of this asset.</p>
          ) : (
            <SimpleTable
              label="Builds"
              rows={data}
              keyOf={({ name, track }) => `${track} ${name}`}
              columns={[
                {
                  label: 'Build',
                  cell: ({ name }) => (
                    <Link to="/findings" search={{ asset_id: id, asset_version: name }}>
                      <code>{name}</code>
                    </Link>
                  ),
                },
                { label: 'Track', cell: ({ track }) => track },
                { label: 'Digest', cell: ({ digest, commit }) => (digest ?? commit) && <Copy text={digest ?? commit ?? ''} /> },
                { label: 'Also tagged', cell: ({ same_digest }) => <SameDigest id={id} builds={same_digest} /> },
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

/** Other tags with the same digest, of this asset or of others. */
function SameDigest({ id, builds }: { id: string; builds: readonly SameBuild[] }) {
  return builds.map(({ asset, name, track }, n) => (
    <span key={`${asset.id} ${track} ${name}`}>
      {n > 0 && ', '}
      {asset.id === id ? (
        <code>{name}</code>
      ) : (
        <Link to="/assets/$id" params={{ id: asset.id }}>
          {shortName(asset.name)}:{name}
        </Link>
      )}
    </span>
  ));
}
