import type { Finding } from '@rrs/client';
import { useSourceNames } from '../../../api/source-names.ts';
import { Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import css from './finding-detail.module.css';

/** Who sees the finding, and who no longer does. */
export function Sightings({ finding: { sightings } }: { finding: Finding }) {
  const nameOf = useSourceNames();
  return (
    <Section title="Reported by">
      <ul className={css.list}>
        {sightings.map(({ source, track, state, absence, last_seen, severity, gaps }) => (
          <li key={`${source.id} ${track}`}>
            <strong>{nameOf(source)}</strong>
            <div>
              {state === 'present' ? 'Sees it' : state === 'absent' ? `No longer sees it${absence ? ` (${term(absence).toLowerCase()})` : ''}` : 'Does not say'}
              <span className="dim">
                {' '}
                · {term(severity)} · <Time at={last_seen} />
                {track ? ` · ${track}` : ''}
              </span>
            </div>
            {gaps.map(({ code, sentence }) => (
              <div key={code} className="dim">
                {sentence}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  );
}
