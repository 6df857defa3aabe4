import { Button, Checkbox, FileButton, Progress } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useCommands } from '../../keys/keys.ts';
import { Page, Section } from '../../parts/page.tsx';
import { SafeLink } from '../../parts/safe-link.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { bytes, number } from '../../parts/words.ts';
import css from './imports-page.module.css';
import { addUploads, type Upload, useUploads } from './uploads.ts';
import { useFormatNames } from './use-format-names.ts';

type Import = ResultOf<'listImports'>['data'][number];
const isRunning = ({ status }: { status: string }): boolean => status === 'queued' || status === 'running';

export function ImportsPage() {
  const [isWaiting, setWaiting] = useState(true);
  // Imports report no progress by event: running ones are asked for every second.
  const imports = useApi('listImports', { query: { limit: 50, sort: '-created_at' } }, { refetchInterval: isWaiting ? 1000 : false });
  const waits = imports.data?.data.some(isRunning) ?? false;
  if (imports.data && waits !== isWaiting) setWaiting(waits);
  return (
    <Page title="Imports">
      {useMay('imports:manage') && <Drop />}
      <Uploads />
      <Section title="Recent imports">
        <Show query={imports} rows={8}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title="No imports yet">Drop the report of a scanner above. The format is recognized by itself.</Empty>
            ) : (
              <Imports rows={data} />
            )
          }
        </Show>
      </Section>
    </Page>
  );
}

/** Reports are dropped or chosen. Both do the same (WCAG 2.5.7). */
function Drop() {
  const [isOver, setOver] = useState(false);
  const [isComplete, setComplete] = useState(false);
  const scope = isComplete ? { coverage: 'complete' } : {};
  useCommands({ create: () => document.getElementById('choose-reports')?.click() });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same.
    <div
      className={css.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        addUploads(event.dataTransfer.files, scope);
      }}
    >
      <p>
        <strong>Drop reports here</strong> <span className="dim">of any scanner, several at once</span>
      </p>
      <FileButton onChange={(files) => addUploads(files, scope)} multiple inputProps={{ 'aria-label': 'Reports' }}>
        {(props) => (
          <Button {...props} id="choose-reports" variant="default">
            Choose files
          </Button>
        )}
      </FileButton>
      <Checkbox
        checked={isComplete}
        onChange={({ target }) => setComplete(target.checked)}
        label="These reports are complete: close findings that they no longer show"
        description="Otherwise they only add; nothing is closed."
      />
      <Formats />
    </div>
  );
}

/** Which reports can be imported. */
function Formats() {
  const [isOpen, setOpen] = useState(false);
  const formats = useApi('listImportFormats', {}, { staleTime: Number.POSITIVE_INFINITY });
  return (
    <details className={css.formats} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Which reports can be imported</summary>
      {isOpen && (
        <Show query={formats}>
          {({ data }) => (
            <ul>
              {data.map(({ id, name, documentation }) => (
                <li key={id}>{documentation.startsWith('https:') ? <SafeLink href={documentation}>{name}</SafeLink> : name}</li>
              ))}
            </ul>
          )}
        </Show>
      )}
    </details>
  );
}

function Uploads() {
  const uploads = useUploads();
  if (uploads.length === 0) return null;
  return (
    <Section title="Uploads">
      <ul className={css.uploads} aria-live="polite">
        {uploads.map((upload) => (
          <li key={upload.id}>
            <UploadRow upload={upload} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function UploadRow({ upload: { name, size, share, result, error } }: { upload: Upload }) {
  const id = result?.id ?? '';
  const current = useApi('getImport', { path: { id } }, { enabled: id !== '', refetchInterval: 1000 });
  const data = current.data ?? result;
  const isDone = data !== null && !isRunning(data);
  return (
    <>
      <span className="ellipsis">
        {data ? (
          <Link to="/imports/$id" params={{ id: data.id }}>
            {name}
          </Link>
        ) : (
          name
        )}
      </span>
      <span className="dim nowrap">{bytes(size)}</span>
      {error ? (
        <span className="bad">{messageOf(error)}</span>
      ) : isDone ? (
        <span>
          <StatusMark status={data.status} /> <Result row={data} />
        </span>
      ) : (
        <Progress
          value={data ? Math.min(99, (data.progress.bytes_read / Math.max(1, data.bytes)) * 100) : share * 100}
          size="sm"
          aria-label={data ? `Importing ${name}` : `Uploading ${name}`}
          striped={data !== null}
        />
      )}
    </>
  );
}

export function Counts({ counts }: { counts: Import['counts'] }) {
  const shown = [
    ['new', counts.created],
    ['changed', counts.updated],
    ['reopened', counts.reopened],
    ['closed', counts.closed],
    ['unchanged', counts.unchanged],
    ['rejected', counts.rejected],
  ] as const;
  return <span className="dim">{shown.flatMap(([word, value]) => (value > 0 ? [`${number(value)} ${word}`] : [])).join(' · ') || 'Nothing found'}</span>;
}

/** In a few words. The page of the import has all of them. */
function Result({ row: { status, error, notes, counts } }: { row: Pick<Import, 'status' | 'error' | 'notes' | 'counts'> }) {
  if (error)
    return (
      <span className="bad clamped" title={error}>
        {error}
      </span>
    );
  return status === 'needs_confirmation' ? <span>{notes[0]}</span> : <Counts counts={counts} />;
}

function Imports({ rows }: { rows: readonly Import[] }) {
  const nameOf = useFormatNames();
  return (
    <SimpleTable
      label="Recent imports"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'File',
          cell: ({ id, filename }) => (
            <Link to="/imports/$id" params={{ id }}>
              {filename ?? 'Report'}
            </Link>
          ),
        },
        { label: 'Format', cell: ({ format }) => (format === null ? <span className="dim nowrap">Not recognized</span> : nameOf(format)) },
        { label: 'Status', cell: (row) => <StatusMark status={row.status} /> },
        { label: 'Result', cell: (row) => <Result row={row} /> },
        { label: 'By', cell: ({ created_by }) => <span className="dim nowrap">{created_by}</span> },
        { label: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}
