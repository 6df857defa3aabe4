import type { EvidencePreview } from '@rrs/client';
import { ConclusionMark, Gaps, GradeMark } from '../../../parts/evidence.tsx';
import css from './item-page.module.css';

/** The conclusion and grade that a package would have now, and why not a better one. */
export function Preview({ preview: { conclusion, completeness } }: { preview: Pick<EvidencePreview, 'conclusion' | 'completeness'> }) {
  return (
    <>
      <p className={css.preview}>
        <GradeMark grade={completeness.grade} isLong /> <ConclusionMark conclusion={conclusion} />
      </p>
      <Gaps gaps={completeness.gaps} />
    </>
  );
}
