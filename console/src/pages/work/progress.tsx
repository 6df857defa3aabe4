import type { ListedWorkItem } from '@rrs/client';
import { number } from '../../parts/words.ts';
import css from './progress.module.css';

/** How far the findings are, as a bar and as numbers. Plain HTML: it is drawn in each row of a list. */
export function Progress({ findings }: { findings: ListedWorkItem['findings'] }) {
  const { verified, remediated, excepted, aside } = findings;
  const total = findings.total - aside;
  const share = (part: number) => `${total === 0 ? 0 : (part / total) * 100}%`;
  const text = `${number(verified)} of ${number(total)} verified, ${number(remediated)} remediated, ${number(excepted)} excepted`;
  return (
    <span className={css.progress} title={text}>
      <span className={css.bar} aria-hidden="true">
        <span data-part="verified" style={{ width: share(verified) }} />
        <span data-part="excepted" style={{ width: share(excepted) }} />
        <span data-part="remediated" style={{ width: share(remediated) }} />
      </span>
      <span>
        {number(verified + excepted)}/{number(total)}
      </span>
    </span>
  );
}
