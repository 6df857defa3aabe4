import { Button } from '@mantine/core';
import type { ImportChangeKind, ResultOf } from '@rrs/client';
import { Link, useParams } from '@tanstack/react-router';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useQueryString } from '../../lists/query.ts';
import { Copy } from '../../parts/copy.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { SeverityChip } from '../../parts/severity.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { bytes, number, shortName, term } from '../../parts/words.ts';
import { ReportFile } from './report-file.tsx';
import { useFormatNames } from './use-format-names.ts';
import { whatChanged } from './what-changed.ts';

type Import = ResultOf<'getImport'>;
const isRunning = ({ status }: Import): boolean => status === 'queued' || status === 'running';

export function ImportPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const found = useApi('getImport', { path: { id } });
  // A running import is asked for every second, until it ends.
  const nameOf = useFormatNames();
  useApi('getImport', { path: { id } }, { refetchInterval: found.data && isRunning(found.data) ? 1000 : false });
  return (
    <Page title={found.data?.filename ?? 'Import'} info={found.data && <StatusMark status={found.data.status} />}>
      <Show query={found} rows={8}>
        {(data) => (
          <>
            <Withheld data={data} />
            <Section title="Result">
              {data.error && <p className="bad">{data.error}</p>}
              <Numbers data={data} />
            </Section>
            <Section title="Report">
              <Facts
                rows={[
                  ['Format', data.format === null ? null : nameOf(data.format)],
                  ['Size', bytes(data.bytes)],
                  ['Coverage', data.scan_scope.coverage === 'complete' ? 'Complete: closes what it no longer shows' : 'Partial: closes nothing'],
                  ...scanFacts(data.scan),
                  ['Imported by', data.created_by],
                  ['Started', <Time key="started" at={data.started_at} />],
                  ['Finished', <Time key="finished" at={data.finished_at} />],
                  ['SHA-256', <Copy key="hash" text={data.sha256} />],
                  ['File', <ReportFile key="file" data={data} />],
                ]}
              />
            </Section>
            <Rejected data={data} />
            <Changes id={data.id} />
          </>
        )}
      </Show>
    </Page>
  );
}

/** What the report states about its scan. */
function scanFacts({ tool_version, started_at, finished_at, knowledge, knowledge_at, credentialed }: Import['scan']) {
  const scanned = finished_at ?? started_at;
  return [
    ['Tool version', tool_version],
    ['Scanned', scanned && <Time key="scanned" at={scanned} />],
    ['Vulnerability data', knowledge_at === null ? knowledge : <Time key="known" at={knowledge_at} />],
    ['Signed in to the target', credentialed === null ? null : credentialed ? 'Yes' : 'No, so the scan saw less'],
  ] as const;
}

/** An import that would close much more than usual waits for a person. */
function Withheld({ data: { id, status, notes } }: { data: Import }) {
  const may = useMay('imports:manage');
  const confirm = useChange('confirmImport', ['getImport', 'listImports', 'listImportChanges', 'getFindingStats'], () =>
    announce('Confirmed. The findings are closed.'),
  );
  const discard = useChange('discardImport', ['getImport', 'listImports'], () => announce('Discarded. Nothing was closed.'));
  if (status !== 'needs_confirmation') return null;
  const error = confirm.error ?? discard.error;
  return (
    <Section title="This import waits for you">
      <p>{notes[0]}</p>
      <p className="dim">So many at once often mean that a scan did not see everything. Check that the report is complete, then decide.</p>
      {error && <p className="bad">{messageOf(error)}</p>}
      {may && (
        <p>
          <Button color="red" onClick={() => confirm.mutate({ path: { id } })} loading={confirm.isPending}>
            Confirm and close them
          </Button>{' '}
          <Button variant="default" onClick={() => discard.mutate({ path: { id } })} loading={discard.isPending}>
            Discard and keep them open
          </Button>
        </p>
      )}
    </Section>
  );
}

/** As lists of imports call it. */
const wordOf = (kind: string): string => ({ created: 'New', updated: 'Changed' })[kind] ?? term(kind);

/** The numbers add up to what was received, except for what was closed. Those of changes lead to them. */
function Numbers({ data: { id, counts } }: { data: Import }) {
  const shown = (kind: 'created' | 'updated' | 'reopened' | 'closed') =>
    [
      wordOf(kind),
      counts[kind] === 0 ? (
        number(0)
      ) : (
        <Link key={kind} to="/imports/$id" params={{ id }} search={{ kind }} hash="changes">
          {number(counts[kind])}
        </Link>
      ),
    ] as const;
  return (
    <Facts
      rows={[
        ['Received', number(counts.received)],
        shown('created'),
        shown('updated'),
        shown('reopened'),
        ['Unchanged', number(counts.unchanged)],
        ['Rejected', number(counts.rejected)],
        shown('closed'),
      ]}
    />
  );
}

function Rejected({ data: { status, rejected, notes: all } }: { data: Import }) {
  // The first one is the question above.
  const notes = status === 'needs_confirmation' ? all.slice(1) : all;
  return (
    <>
      {notes.length > 0 && (
        <Section title="Notes">
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Section>
      )}
      {rejected.length > 0 && (
        <Section title="Rejected records">
          <SimpleTable
            label="Rejected records"
            rows={rejected}
            keyOf={({ place, reason }) => `${place} ${reason}`}
            columns={[
              { label: 'Position', cell: ({ place }) => <code>{place}</code> },
              { label: 'Reason', cell: ({ reason }) => reason },
            ]}
          />
        </Section>
      )}
    </>
  );
}

const kinds: readonly ImportChangeKind[] = ['created', 'reopened', 'closed', 'updated'];

function Changes({ id }: { id: string }) {
  const [{ kind }, setQuery] = useQueryString();
  const changes = useApi(
    'listImportChanges',
    { path: { id }, query: { limit: 100, sort: '-severity', kind: kind ? [kind as ImportChangeKind] : [...kinds] } },
    { keep: true },
  );
  return (
    <Section
      id="changes"
      title="Changes"
      actions={
        <span>
          {[undefined, ...kinds].map((each) => (
            <Button
              key={each ?? 'all'}
              variant={kind === each ? 'light' : 'subtle'}
              size="compact-xs"
              aria-pressed={kind === each}
              onClick={() => setQuery({ kind: each ?? null })}
            >
              {each === undefined ? 'All' : wordOf(each)}
            </Button>
          ))}{' '}
          <Link to="/findings" search={{ import_id: id }}>
            As a list of findings
          </Link>
        </span>
      }
    >
      <Show query={changes} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing changed" />
          ) : (
            <SimpleTable
              label="Changes"
              rows={data}
              keyOf={({ finding_id, kind: each }) => `${finding_id} ${each}`}
              columns={[
                { label: 'Change', cell: (row) => wordOf(row.kind) },
                { label: 'Severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
                {
                  label: 'Finding',
                  cell: ({ finding_id, title }) => (
                    <Link to="/findings/$id" params={{ id: finding_id }}>
                      {title}
                    </Link>
                  ),
                },
                { label: 'Asset', cell: ({ asset }) => <span title={asset.name}>{shortName(asset.name)}</span> },
                { label: 'What', cell: (change) => <span className="dim">{whatChanged(change)}</span> },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}
