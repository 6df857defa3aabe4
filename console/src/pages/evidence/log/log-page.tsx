import { Button } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { RrsError } from '@rrs/client';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { readOf, useApi } from '../../../api/client.ts';
import { useQueryString } from '../../../lists/query.ts';
import { Copy } from '../../../parts/copy.tsx';
import { FileDrop } from '../../../parts/file-drop.tsx';
import { Facts, Page, Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, Failure, Loading, messageOf } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { number, utc } from '../../../parts/words.ts';
import { saveFile } from '../fetch-file.ts';
import { EvidenceNav } from '../packages/evidence-nav.tsx';
import css from './log-page.module.css';
import { checkInclusion, compareCheckpoint } from './proofs.ts';

type Head = ResultOf<'getLogCheckpoint'>;
type Entry = ResultOf<'getLogEntry'>;

/** The transparency log: its head, whether it only grew, and its entries. */
export function LogPage() {
  const head = useApi('getLogCheckpoint', { query: {} });
  const isEmpty = head.error instanceof RrsError && head.error.status === 404;
  return (
    <Page title="Evidence" bar={<EvidenceNav />}>
      {head.data ? (
        <Log head={head.data} />
      ) : isEmpty ? (
        <Empty title="The log is empty">The first evidence package starts the transparency log. Nothing can be removed from it afterwards.</Empty>
      ) : head.error ? (
        <Failure error={head.error} onRetry={() => void head.refetch()} />
      ) : (
        <Loading rows={8} />
      )}
    </Page>
  );
}

function Log({ head }: { head: Head }) {
  return (
    <>
      <Section
        title="Head of the log"
        actions={
          <Button variant="default" onClick={() => saveFile(new File([head.note], `checkpoint-${head.tree_size}.txt`, { type: 'text/plain' }))}>
            Save the checkpoint
          </Button>
        }
      >
        <p className="dim">Keep a checkpoint: with it, you or an auditor can show later that nothing was removed from the log.</p>
        <Facts
          rows={[
            ['Log', <code key="origin">{head.origin}</code>],
            ['Entries', number(head.tree_size)],
            ['Root', <Copy key="root" text={head.root_hash} shown={head.root_hash} />],
            ['Signed', utc(head.created_at)],
            ['Epoch', head.epoch > 1 ? `${head.epoch}: the log was restored from a backup` : null],
          ]}
        />
      </Section>
      <Compare head={head} />
      <Entries head={head} />
    </>
  );
}

type Answer = { text: string; isBad: boolean } | null;

function Compare({ head }: { head: Head }) {
  const [answer, setAnswer] = useState<Answer>(null);
  const compare = async (files: readonly File[]) => {
    const [file] = files;
    if (file === undefined) return;
    try {
      setAnswer({ text: await compareCheckpoint(head, await file.text()), isBad: false });
    } catch (error) {
      setAnswer({ text: messageOf(error), isBad: true });
    }
  };
  return (
    <Section title="Compare with a checkpoint that you saved">
      <FileDrop
        title="Drop a checkpoint here"
        hint="to check in this browser that nothing was removed since"
        action="Choose a checkpoint"
        onFiles={(files) => void compare(files)}
      >
        {answer && (
          <p className={answer.isBad ? 'bad' : 'good'} role={answer.isBad ? 'alert' : 'status'}>
            {answer.text}
          </p>
        )}
      </FileDrop>
    </Section>
  );
}

const SHOWN = 10;

/** The newest entries, or those up to `?index=`. */
function Entries({ head }: { head: Head }) {
  const [query, setQuery] = useQueryString();
  const newest = head.tree_size - 1;
  const asked = Number(query.index ?? newest);
  const last = Number.isInteger(asked) && asked >= 0 && asked <= newest ? asked : newest;
  const indexes = Array.from({ length: Math.min(SHOWN, last + 1) }, (_, place) => last - place);
  const entries = useQueries({
    queries: indexes.map((index) => ({
      ...readOf('getLogEntry', { path: { index: String(index) }, query: { epoch: head.epoch } }),
      // Entries never change, but a package is published after its entry is appended.
      staleTime: 60_000,
    })),
  });
  const failed = entries.find(({ error }) => error);
  const read = entries.flatMap(({ data }) => data ?? []);
  return (
    <Section
      title="Entries"
      actions={
        <div className={css.buttons}>
          <Button variant="default" disabled={last === newest} onClick={() => setQuery({ index: last + SHOWN >= newest ? null : String(last + SHOWN) })}>
            Newer
          </Button>
          <Button variant="default" disabled={last - SHOWN < 0} onClick={() => setQuery({ index: String(last - SHOWN) })}>
            Older
          </Button>
        </div>
      }
    >
      {failed ? (
        <Failure error={failed.error} onRetry={() => void failed.refetch()} />
      ) : read.length < indexes.length ? (
        <Loading rows={indexes.length} />
      ) : (
        <EntryTable head={head} entries={read} />
      )}
    </Section>
  );
}

function EntryTable({ head, entries }: { head: Head; entries: readonly Entry[] }) {
  const packages = useApi('listEvidencePackages', { query: { limit: 200 } }, { staleTime: 60_000 });
  // Ids begin with their time: those of one day look alike.
  const nameOf = (id: string): string => {
    const found = packages.data?.data.find(({ package_id }) => package_id === id);
    return found ? `${found.work_item_title}, No. ${found.sequence}` : `Package …${id.slice(-8)}`;
  };
  return (
    <SimpleTable
      label="Entries"
      rows={entries}
      keyOf={({ index }) => String(index)}
      columns={[
        { label: 'Index', cell: ({ index }) => number(index) },
        {
          label: 'About',
          cell: ({ package_id, published }) =>
            package_id === null ? (
              'Statement about the log or a package'
            ) : published ? (
              <Link to="/evidence/$id" params={{ id: package_id }}>
                {nameOf(package_id)}
              </Link>
            ) : (
              <span className="dim">Interrupted sealing</span>
            ),
        },
        { label: 'Hash', cell: ({ leaf_hash }) => <Copy text={leaf_hash} /> },
        { label: 'Appended', cell: ({ appended_at }) => <Time at={appended_at} /> },
        { label: 'Inclusion', cell: ({ index, leaf_hash }) => <Inclusion head={head} index={index} leafHash={leaf_hash} /> },
      ]}
    />
  );
}

function Inclusion({ head, index, leafHash }: { head: Head; index: number; leafHash: string }) {
  const [answer, setAnswer] = useState<Answer>(null);
  const check = async () => {
    try {
      setAnswer({ text: await checkInclusion(head, index, leafHash), isBad: false });
    } catch (error) {
      setAnswer({ text: messageOf(error), isBad: true });
    }
  };
  if (answer) return <span className={answer.isBad ? 'bad' : 'good'}>{answer.text}</span>;
  return (
    <Button variant="default" onClick={() => void check()} aria-label={`Check that entry ${index} is in the log`}>
      Check
    </Button>
  );
}
