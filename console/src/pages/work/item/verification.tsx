import type { WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../../api/session.ts';
import { Section } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { count } from '../../../parts/words.ts';
import { Progress } from '../progress.tsx';
import css from './item-page.module.css';
import { Preview } from './preview.tsx';
import { usePreview } from './use-preview.ts';

/** Why the work item is not verified yet, and what its evidence lacks. */
export function Verification({ item }: { item: WorkItem }) {
  const may = useMay('evidence:manage');
  const preview = usePreview(item, may);
  const { open, in_progress, remediated, excepted, total } = item.findings;
  const link = (status: string, text: string) => (
    <Link to="/findings" search={{ work_item_id: item.id, status }}>
      {text}
    </Link>
  );
  const isClosed = item.closed_at !== null;
  return (
    <>
      <Section title={item.status === 'verified' ? 'Verified' : isClosed ? 'Closed' : 'Why it is not verified yet'}>
        <Progress findings={item.findings} />
        {!isClosed && (
          <ul className={css.reasons}>
            {total === 0 && <li>It has no findings.</li>}
            {open > 0 && <li>{link('open', `${count(open, 'finding')} open`)}: nobody has started.</li>}
            {in_progress > 0 && <li>{link('in_progress', `${count(in_progress, 'finding')} in progress`)}: not claimed as remediated.</li>}
            {remediated > 0 && (
              <li>{link('remediated,verified', `${count(remediated, 'finding')} claimed as remediated`)}: no scan and no second person has confirmed it.</li>
            )}
          </ul>
        )}
        {excepted > 0 && <p className="dim">{count(excepted, 'finding')} excepted: risk accepted, false positive or withdrawn.</p>}
      </Section>
      {may && (
        <Section title="What a package would lack">
          <Show query={preview} rows={3}>
            {(data) => <Preview preview={data} />}
          </Show>
        </Section>
      )}
    </>
  );
}
