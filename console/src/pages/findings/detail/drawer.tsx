import { ActionIcon, CloseButton } from '@mantine/core';
import { ChevronDownIcon, ChevronUpIcon } from '@primer/octicons-react';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../../api/client.ts';
import { Show } from '../../../parts/states.tsx';
import { VerbButtons } from '../triage/verb-buttons.tsx';
import type { VerbName } from '../triage/verbs.ts';
import css from './drawer.module.css';
import { FindingDetail } from './finding-detail.tsx';

interface DrawerProps {
  id: string;
  onClose: () => void;
  ask: (name: VerbName) => void;
  /** Shows the next finding of the list, or the one before. */
  onMove: (by: 1 | -1) => void;
  isFirst: boolean;
  isLast: boolean;
}

/** One finding next to the list, which stays usable. */
export function Drawer({ id, onClose, ask, onMove, isFirst, isLast }: DrawerProps) {
  const finding = useApi('getFinding', { path: { id } }, { keep: true });
  return (
    <aside className={css.drawer} aria-label="Finding">
      <header className={css.header}>
        <h2 className={css.title}>{finding.data?.title ?? 'Finding'}</h2>
        <Link to="/findings/$id" params={{ id }}>
          Open as a page
        </Link>
        <span className={css.move}>
          <ActionIcon aria-label="Previous finding" disabled={isFirst} onClick={() => onMove(-1)}>
            <ChevronUpIcon />
          </ActionIcon>
          <ActionIcon aria-label="Next finding" disabled={isLast} onClick={() => onMove(1)}>
            <ChevronDownIcon />
          </ActionIcon>
        </span>
        <CloseButton aria-label="Close the finding" onClick={onClose} />
      </header>
      <div className={css.verbs}>{finding.data && <VerbButtons finding={finding.data} ask={ask} />}</div>
      <div className={css.content}>
        <Show query={finding} rows={8}>
          {(data) => <FindingDetail finding={data} />}
        </Show>
      </div>
    </aside>
  );
}
