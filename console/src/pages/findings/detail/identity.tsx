import { Button } from '@mantine/core';
import type { Finding, FindingIdentity } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { useSourceNames } from '../../../api/source-names.ts';
import { Facts } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import css from './finding-detail.module.css';

const MergeDialog = lazy(async () => ({ default: (await import('./merge-dialogs.tsx')).MergeDialog }));
const SplitDialog = lazy(async () => ({ default: (await import('./merge-dialogs.tsx')).SplitDialog }));

/** What makes records of reports belong to this finding. Read when somebody opens it. */
export function Identity({ finding }: { finding: Finding }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={css.identity} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>Identity</h2>
      </summary>
      {isOpen && <Content finding={finding} />}
    </details>
  );
}

function Content({ finding }: { finding: Finding }) {
  const nameOf = useSourceNames();
  const identity = useApi('getFindingIdentity', { path: { id: finding.id } });
  const may = useMay('findings:triage');
  const [open, setOpen] = useState<'merge' | { split: string } | null>(null);
  return (
    <>
      <p className="dim">A record of a report belongs to this finding if it names the same weakness and component on the same asset.</p>
      <Show query={identity}>
        {(data) => (
          <>
            <Facts
              rows={[
                ['Weakness', <code key="weakness">{data.weakness}</code>],
                ['Also called', data.aliases.join(', ')],
                ['Component', data.component_key && <code key="component">{data.component_key}</code>],
                [
                  'Asset is known as',
                  data.asset.identifiers.map(({ kind, value }) => (
                    <div key={`${kind} ${value}`}>
                      <span className="dim">{kind}</span> <code>{value}</code>
                    </div>
                  )),
                ],
                [
                  'Ids of tools',
                  data.tool_ids.length > 0 &&
                    data.tool_ids.map(({ source, track, external_id }) => (
                      <div key={`${source.id} ${track} ${external_id}`}>
                        {nameOf(source)} <code>{external_id}</code>
                      </div>
                    )),
                ],
              ].map(([name, value]) => [String(name), value === false ? null : value] as const)}
            />
            {data.rules.length > 0 && <Merges rules={data.rules} id={finding.id} onSplit={may ? (split) => setOpen({ split }) : null} />}
          </>
        )}
      </Show>
      {may && finding.merged_into === null && (
        <Button variant="default" onClick={() => setOpen('merge')}>
          Merge with another finding
        </Button>
      )}
      <Suspense>
        {open === 'merge' && <MergeDialog finding={finding} onClose={() => setOpen(null)} />}
        {open !== null && open !== 'merge' && <SplitDialog id={open.split} onClose={() => setOpen(null)} />}
      </Suspense>
    </>
  );
}

interface MergesProps {
  rules: FindingIdentity['rules'];
  id: string;
  onSplit: ((id: string) => void) | null;
}

/** Merges of findings, also those that were undone. */
function Merges({ rules, id, onSplit }: MergesProps) {
  return (
    <ul className={css.list}>
      {rules.map((rule) => {
        const other = rule.finding_id === id ? rule.into_id : rule.finding_id;
        return (
          <li key={rule.id}>
            <p>
              Merged with{' '}
              <Link to="/findings/$id" params={{ id: other }}>
                another finding
              </Link>
              {rule.kind === 'by_person' ? '' : ` (${term(rule.kind).toLowerCase()})`} {rule.reason && <>“{rule.reason}”</>}
            </p>
            <div className="dim">
              {rule.by?.name ?? 'The service'} · <Time at={rule.created_at} />
              {rule.revoked_at && (
                <>
                  {' '}
                  · separated <Time at={rule.revoked_at} />
                </>
              )}
            </div>
            {onSplit && rule.kind !== 'asset_merge' && rule.revoked_at === null && (
              <Button variant="default" size="compact-xs" onClick={() => onSplit(rule.finding_id)}>
                Separate them
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
