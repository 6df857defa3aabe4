import { Button, Progress } from '@mantine/core';
import { AlertIcon, DownloadIcon } from '@primer/octicons-react';

import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useLive } from '../../../api/live.ts';
import { useMay } from '../../../api/session.ts';
import { useQueryString } from '../../../lists/query.ts';
import { Tabs } from '../../../lists/tabs.tsx';
import { ConclusionMark, GradeMark } from '../../../parts/evidence.tsx';
import { Menu } from '../../../parts/layers/menu.tsx';
import { Page } from '../../../parts/page.tsx';
import { Loading, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { bytes, utc } from '../../../parts/words.ts';
import { formatWords } from '../format-words.ts';
import { Overview } from './overview.tsx';
import type { Package } from './package.ts';
import css from './package-page.module.css';

const Contents = lazy(async () => ({ default: (await import('./contents.tsx')).Contents }));
const Files = lazy(async () => ({ default: (await import('./files.tsx')).Files }));
const Sharing = lazy(async () => ({ default: (await import('./sharing.tsx')).Sharing }));
const VerifyStored = lazy(async () => ({ default: (await import('./verify-stored.tsx')).VerifyStored }));
const ShareDialog = lazy(async () => ({ default: (await import('./share-dialog.tsx')).ShareDialog }));

const POLL_MS = 2000;

export function PackagePage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const [isGenerating, setGenerating] = useState(true);
  const isLive = useLive();
  // Reading a sealed package is recorded in the audit trail, so it is read again only after an event.
  const found = useApi(
    'getEvidencePackage',
    { path: { package_id: id } },
    { staleTime: Number.POSITIVE_INFINITY, refetchInterval: isGenerating && !isLive ? POLL_MS : false },
  );
  const generates = found.data?.status === 'generating';
  if (found.data && generates !== isGenerating) setGenerating(generates);
  return (
    <Page
      title={found.data?.work_item_title ?? 'Evidence package'}
      info={found.data && <Info found={found.data} />}
      actions={found.data && <Actions found={found.data} />}
      bar={found.data?.hashes && <Parts id={id} />}
    >
      <Show query={found} rows={8}>
        {(data) => <Body found={data} />}
      </Show>
    </Page>
  );
}

function Info({ found: { sequence, status, conclusion, completeness } }: { found: Package }) {
  return (
    <>
      <span className="nowrap">No. {sequence}</span>
      {conclusion === null || status === 'superseded' ? <StatusMark status={status} /> : null}
      {conclusion && <ConclusionMark conclusion={conclusion} />}
      {completeness && <GradeMark grade={completeness.grade} />}
    </>
  );
}

function Actions({ found }: { found: Package }) {
  const [isSharing, setSharing] = useState(false);
  const mayShare = useMay('evidence:manage');
  const [zip, ...others] = found.downloads;
  if (zip === undefined) return null;
  return (
    <>
      <Menu
        target={
          <Button variant="default" leftSection={<DownloadIcon size={14} />}>
            Download
          </Button>
        }
        actions={[zip, ...others].map(({ format, url, size }) => ({ label: formatWords(format), download: url, hint: bytes(size) }))}
      />
      {mayShare && <Button onClick={() => setSharing(true)}>Share</Button>}
      <Suspense>{isSharing && <ShareDialog packageId={found.package_id} onClose={() => setSharing(false)} />}</Suspense>
    </>
  );
}

const parts = [
  { label: 'Overview', query: {} },
  { label: 'Controls and decisions', query: { part: 'contents' } },
  { label: 'Verify', query: { part: 'verify' } },
  { label: 'Sharing', query: { part: 'sharing' } },
  { label: 'Files', query: { part: 'files' } },
] as const;

function Parts({ id }: { id: string }) {
  const [query] = useQueryString();
  return <Tabs label="Parts of the package" path={`/evidence/${id}`} views={parts} query={query} />;
}

function Body({ found }: { found: Package }) {
  const [{ part }] = useQueryString();
  if (found.status === 'generating') return <Generating />;
  if (found.status === 'failed') return <Failed found={found} />;
  return (
    <>
      {found.superseded && <Superseded superseded={found.superseded} />}
      <Suspense fallback={<Loading rows={6} />}>
        {part === 'contents' ? (
          <Contents found={found} />
        ) : part === 'verify' ? (
          <VerifyStored found={found} />
        ) : part === 'sharing' ? (
          <Sharing packageId={found.package_id} />
        ) : part === 'files' ? (
          <Files found={found} />
        ) : (
          <Overview found={found} />
        )}
      </Suspense>
    </>
  );
}

function Generating() {
  return (
    <div className={css.generating} role="status">
      <p>
        The package is being sealed: its evidence is collected, written, signed and entered in the transparency log. This page shows it as soon as it is ready.
      </p>
      <Progress value={100} size="sm" striped animated aria-label="Sealing the package" />
    </div>
  );
}

function Failed({ found: { error, work_item_id } }: { found: Package }) {
  const maySeal = useMay('evidence:manage');
  return (
    <div className={css.notice} data-tone="bad" role="alert">
      <p>
        <AlertIcon size={16} aria-hidden /> Sealing failed. {error}
      </p>
      {maySeal && (
        <Link to="/evidence/new" search={{ work_item_id }}>
          Seal it again
        </Link>
      )}
    </div>
  );
}

function Superseded({ superseded: { at, by, reason } }: { superseded: NonNullable<Package['superseded']> }) {
  return (
    <div className={css.notice} role="note">
      <p>
        <AlertIcon size={16} aria-hidden /> Superseded on {utc(at)}. {reason} It still verifies for its date.
      </p>
      {by && (
        <Link to="/evidence/$id" params={{ id: by }}>
          Open the package that replaced it
        </Link>
      )}
    </div>
  );
}
