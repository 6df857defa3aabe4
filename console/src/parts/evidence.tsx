import { AlertFillIcon, CheckCircleFillIcon, CircleSlashIcon, InfoIcon, ShieldCheckIcon, XCircleFillIcon } from '@primer/octicons-react';
import type { ReactNode } from 'react';
import css from './evidence.module.css';
import { term } from './words.ts';

const conclusions: Readonly<Record<string, { icon: ReactNode; tone: string }>> = {
  remediated: { icon: <CheckCircleFillIcon size={14} />, tone: 'good' },
  partially_remediated: { icon: <AlertFillIcon size={14} />, tone: 'warn' },
  risk_accepted: { icon: <ShieldCheckIcon size={14} />, tone: 'warn' },
  false_positive: { icon: <CircleSlashIcon size={14} />, tone: 'neutral' },
  not_remediated: { icon: <XCircleFillIcon size={14} />, tone: 'bad' },
};

/** What a package concludes. */
export function ConclusionMark({ conclusion }: { conclusion: string }) {
  const { icon, tone } = conclusions[conclusion] ?? { icon: <InfoIcon size={14} />, tone: 'neutral' };
  return (
    <span className={css.mark} data-tone={tone}>
      {icon}
      {term(conclusion)}
    </span>
  );
}

const grades: Readonly<Record<string, string>> = { A: 'No gaps', B: 'Only minor gaps', C: 'One kind of major gap', D: 'Two or more kinds of major gaps' };

/** How complete the evidence is. `isLong` adds what the letter means. */
export function GradeMark({ grade, isLong = false }: { grade: string; isLong?: boolean }) {
  return (
    <span className={css.grade}>
      <span className={css.letter} data-grade={grade} title={`Grade ${grade}: ${(grades[grade] ?? '').toLowerCase()}`}>
        <span className="visually-hidden">Grade </span>
        {grade}
      </span>
      {isLong && <span>{grades[grade]}</span>}
    </span>
  );
}

interface Gap {
  code: string;
  weight: string;
  what: string;
}

const weights = ['major', 'minor', 'note'];

/** What the evidence lacks, the weightiest first. */
export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  if (gaps.length === 0) return <p className="dim">There are no gaps.</p>;
  const sorted = gaps.toSorted((a, b) => weights.indexOf(a.weight) - weights.indexOf(b.weight));
  return (
    <ul className={css.gaps}>
      {sorted.map(({ code, weight, what }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a kind of gap can occur several times, and the list never changes.
        <li key={`${code} ${index}`}>
          <span className={css.weight} data-weight={weight}>
            {term(weight)}
          </span>
          <span title={code}>{what}</span>
        </li>
      ))}
    </ul>
  );
}
