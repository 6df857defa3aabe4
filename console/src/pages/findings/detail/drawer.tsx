import { CloseButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { Show } from '../../parts/states.tsx';
import css from './drawer.module.css';
import { FindingDetail } from './finding-detail.tsx';
import { VerbButtons } from './verb-buttons.tsx';
import type { VerbName } from './verbs.ts';

/** One finding next to the list, which stays usable. */
export function Drawer({ id, onClose, ask }: { id: string; onClose: () => void; ask: (name: VerbName) => void }) {
  const finding = useApi('getFinding', { path: { id } }, { keep: true });
  return (
    <aside className={css.drawer} aria-label="Finding">
      <header className={css.header}>
        <h2 className={css.title}>{finding.data?.title ?? 'Finding'}</h2>
        <Link to="/findings/$id" params={{ id }}>
          Open as a page
        </Link>
        <CloseButton aria-label="Close the finding" onClick={onClose} />
      </header>
      <div className={css.verbs}>{finding.data && <VerbButtons status={finding.data.status} ask={ask} />}</div>
      <div className={css.content}>
        <Show query={finding} rows={8}>
          {(data) => <FindingDetail finding={data} />}
        </Show>
      </div>
    </aside>
  );
}
