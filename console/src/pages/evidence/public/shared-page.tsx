import { Button } from '@mantine/core';
import { AlertIcon, DownloadIcon } from '@primer/octicons-react';
import { type ResultOf, RrsError } from '@rrs/client';
import { useParams } from '@tanstack/react-router';
import { useApi } from '../../../api/client.ts';
import { Copy } from '../../../parts/copy.tsx';
import { ConclusionMark, Gaps, GradeMark } from '../../../parts/evidence.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { bytes, count, relativeTime, utc } from '../../../parts/words.ts';
import { formatWords } from '../format-words.ts';
import { PublicFrame } from './public-frame.tsx';
import css from './shared-page.module.css';
import { VerifyShared } from './verify-shared.tsx';

type Shared = ResultOf<'getSharedEvidencePackage'>;

/** What the recipient of a share link sees. The link is the only credential; opening the page is not a download. */
export function SharedPage() {
  const { token = '' } = useParams({ strict: false }) as { token?: string };
  // Each reading of the link is recorded for its sender, so it is not repeated by itself.
  const shared = useApi('getSharedEvidencePackage', { path: { token } }, { staleTime: Number.POSITIVE_INFINITY });
  if (shared.data) return <Found shared={shared.data} onDownload={() => void shared.refetch()} />;
  if (shared.error instanceof RrsError && shared.error.status === 404) return <NoLink />;
  return (
    <PublicFrame title="Evidence package">
      {shared.error ? <Failure error={shared.error} onRetry={() => void shared.refetch()} /> : <Loading rows={6} />}
    </PublicFrame>
  );
}

/** Unknown, expired and revoked links look the same, so that nobody can find out which ones exist. */
function NoLink() {
  return (
    <PublicFrame title="This link does not work">
      <p role="alert">It is unknown, expired or revoked. Check that you copied all of it, or ask the sender for a new link.</p>
    </PublicFrame>
  );
}

function Found({ shared, onDownload }: { shared: Shared; onDownload: () => void }) {
  const { completeness, counts, superseded } = shared;
  return (
    <PublicFrame title={shared.work_item_title}>
      <p>
        {shared.organization} shared this evidence package with <strong>{shared.recipient}</strong>.
      </p>
      <Left shared={shared} />
      {superseded && (
        <p className={css.notice} data-tone="warn" role="note">
          <AlertIcon size={16} aria-hidden /> This package is superseded since {utc(superseded.at)}. {superseded.reason} It still shows how things were when it
          was made.
        </p>
      )}
      <Section title="At a glance">
        <Facts
          rows={[
            ['Conclusion', shared.conclusion && <ConclusionMark key="conclusion" conclusion={shared.conclusion} />],
            ['Evidence', completeness && <GradeMark key="grade" grade={completeness.grade} isLong />],
            ['Gaps', completeness && <Gaps key="gaps" gaps={completeness.gaps} />],
            ['Contains', counts && [count(counts.findings, 'finding'), count(counts.scans, 'scan'), count(counts.artifacts, 'artifact')].join(', ')],
            ['As of', shared.as_of && utc(shared.as_of)],
            ['Generated', shared.generated_at && utc(shared.generated_at)],
            ['Package', `Number ${shared.sequence} of the work item`],
          ]}
        />
      </Section>
      <Downloads shared={shared} onDownload={onDownload} />
      <VerifyShared shared={shared} onDownload={onDownload} />
      <Section title="Identity">
        <Facts
          rows={[
            ['Package ID', <Copy key="id" text={shared.package_id} shown={shared.package_id} />],
            ['SHA-256 of the ZIP', shared.hashes && <Copy key="hash" text={shared.hashes.archive_sha256} shown={shared.hashes.archive_sha256} />],
            ['Signed with', shared.signature && <Copy key="key" text={shared.signature.key_id} shown={shared.signature.key_id} />],
            ['Log entry', shared.log && `Index ${shared.log.index} of ${count(shared.log.tree_size, 'entry', 'entries')}`],
            ['Keys', shared.keys.hint],
          ]}
        />
      </Section>
    </PublicFrame>
  );
}

/** How long the link works, and how often. */
function Left({ shared: { expires_at, remaining_downloads: left } }: { shared: Shared }) {
  const until = `The link works until ${utc(expires_at)} (${relativeTime(expires_at)}).`;
  if (left === null) return <p className="dim">{until}</p>;
  if (left === 0)
    return (
      <p className={css.notice} role="note">
        <AlertIcon size={16} aria-hidden /> No download is left. You can still read this page and verify a file that you have. For another download, ask the
        sender for a new link.
      </p>
    );
  return (
    <p className="dim">
      {until} It allows {count(left, 'more download')}. Reading this page does not count.
    </p>
  );
}

const MAIN = ['zip', 'pdf', 'html'];

function Downloads({ shared: { downloads, remaining_downloads: left }, onDownload }: { shared: Shared; onDownload: () => void }) {
  const main = MAIN.flatMap((format) => downloads.find((download) => download.format === format) ?? []);
  return (
    <Section title="Download">
      {left === 1 && <p className={css.hint}>One download is left: take the package. It contains all other files.</p>}
      <div className={css.buttons}>
        {main.map(({ format, url, size }, index) =>
          left === 0 ? (
            <Button key={format} disabled leftSection={<DownloadIcon size={14} />}>
              {formatWords(format)}
            </Button>
          ) : (
            <Button
              key={format}
              component="a"
              href={url}
              download
              variant={index === 0 ? 'filled' : 'default'}
              leftSection={<DownloadIcon size={14} />}
              onClick={() => setTimeout(onDownload, COUNTED_MS)}
            >
              {formatWords(format)}, {bytes(size)}
            </Button>
          ),
        )}
      </div>
      <details className={css.all}>
        <summary>All files with their hashes</summary>
        <SimpleTable
          label="Files"
          rows={downloads}
          keyOf={({ format }) => format}
          columns={[
            {
              label: 'File',
              cell: ({ format, url }) =>
                left === 0 ? (
                  formatWords(format)
                ) : (
                  <a href={url} download onClick={() => setTimeout(onDownload, COUNTED_MS)}>
                    {formatWords(format)}
                  </a>
                ),
            },
            { label: 'Size', align: 'end', cell: ({ size }) => <span className="nowrap">{bytes(size)}</span> },
            { label: 'SHA-256', cell: ({ sha256 }) => <Copy text={sha256} /> },
          ]}
        />
      </details>
    </Section>
  );
}

/** The browser does not say when a download begins. By then the service has counted it, and the page says how many are left. */
const COUNTED_MS = 1500;
