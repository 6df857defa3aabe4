import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { type Severity, SeverityChip } from '../../parts/severity.tsx';
import { number } from '../../parts/words.ts';
import css from './severity-tiles.module.css';

const shown: readonly Severity[] = ['critical', 'high', 'medium', 'low'];
export const ACTIVE = 'open,in_progress,remediated';

/** Active findings by severity. Each number leads to the list that it counts. */
export function SeverityTiles({ stats }: { stats: ResultOf<'getFindingStats'> }) {
  return (
    <ul className={css.tiles} aria-label="Active findings by severity">
      {shown.map((severity) => (
        <li key={severity} className={css.tile}>
          <Link to="/findings" search={{ severity, status: ACTIVE }}>
            <SeverityChip severity={severity} />
            <strong>{number(stats.by_severity[severity].active)}</strong>
            <span className="dim">active</span>
          </Link>
          {stats.by_severity[severity].overdue > 0 && (
            <Link to="/findings" search={{ severity, overdue: 'true' }} className="bad">
              {number(stats.by_severity[severity].overdue)} overdue
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}
