import { Button } from '@mantine/core';
import type { TimelineEntry, WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { Comments } from '../../../parts/objects/comments.tsx';
import { Section } from '../../../parts/page.tsx';
import { Boundary, Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import css from './item-page.module.css';

const STEP = 50;

/** What people say about the work, and everything that happened to it and its findings. */
export function ActivityTab({ item }: { item: WorkItem }) {
  return (
    <>
      <Boundary>
        <Comments of="workItem" id={item.id} />
      </Boundary>
      <Boundary>
        <Timeline id={item.id} />
      </Boundary>
    </>
  );
}

/** The findings that the tab of findings shows, by their titles. */
function useFindingTitles(id: string): (finding: string) => string {
  const linked = useApi('listWorkItemFindings', { path: { id }, query: { limit: 100, state: 'linked' } });
  const former = useApi('listWorkItemFindings', { path: { id }, query: { limit: 100, state: 'unlinked' } });
  const known = [...(linked.data?.data ?? []), ...(former.data?.data ?? [])];
  return (finding) => known.find((each) => each.finding_id === finding)?.title ?? `Finding …${finding.slice(-8)}`;
}

function Timeline({ id }: { id: string }) {
  const [shown, setShown] = useState(STEP);
  const titleOf = useFindingTitles(id);
  const timeline = useApi('listWorkItemTimeline', { path: { id }, query: { limit: shown } }, { keep: true });
  return (
    <Section title="Timeline">
      <Show query={timeline} rows={6}>
        {({ data, page }) => (
          <>
            <ol className={css.list}>
              {data.map((entry) => (
                <li key={entry.id}>
                  {textOf(entry)}
                  {entry.object.type === 'finding' && (
                    <>
                      {' '}
                      <Link to="/findings/$id" params={{ id: entry.object.id }}>
                        {titleOf(entry.object.id)}
                      </Link>
                    </>
                  )}
                  {entry.reason && <span> “{entry.reason}”</span>}
                  <div className="dim">
                    {entry.person?.name ?? entry.actor.name} · <Time at={entry.occurred_at} />
                    {entry.import_id && (
                      <>
                        {' · '}
                        <Link to="/imports/$id" params={{ id: entry.import_id }}>
                          import
                        </Link>
                      </>
                    )}
                  </div>
                </li>
              ))}
            </ol>
            {page.next_cursor !== null && shown < 200 && (
              <Button variant="default" onClick={() => setShown(200)}>
                Show more
              </Button>
            )}
          </>
        )}
      </Show>
    </Section>
  );
}

function textOf({ action, before, after }: TimelineEntry): string {
  const name = term(action.replace(/^(?:work_item|finding)\./, ''));
  const [from, to] = [before?.status, after?.status];
  if (typeof to !== 'string') return name;
  return typeof from === 'string' ? `${name}: ${term(from)} → ${term(to)}` : `${name}: ${term(to)}`;
}
