import { Button } from '@mantine/core';
import type { Finding } from '@rrs/client';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { Section } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { number } from '../../../parts/words.ts';
import css from './finding-detail.module.css';

const FEW = 20;
const MOST = 200;

/** Where the finding is, and in which versions of the asset. */
export function Places({ finding: { id, occurrences, occurrence_count, versions } }: { finding: Finding }) {
  const [isAll, setAll] = useState(false);
  if (occurrence_count < 2 && versions.length === 0) return null;
  return (
    <Section title={`Locations (${number(occurrence_count)})`}>
      {isAll ? <AllPlaces id={id} count={occurrence_count} /> : <PlaceList places={occurrences.slice(0, FEW)} />}
      {!isAll && occurrence_count > Math.min(FEW, occurrences.length) && (
        <Button variant="subtle" onClick={() => setAll(true)}>
          Show all {number(occurrence_count)}
        </Button>
      )}
      {versions.length > 0 && (
        <p className="dim">
          Seen in{' '}
          {versions
            .slice(0, 10)
            .map(({ name, track }) => `${name}${track ? ` (${track})` : ''}`)
            .join(', ')}
        </p>
      )}
    </Section>
  );
}

function AllPlaces({ id, count }: { id: string; count: number }) {
  const places = useApi('listFindingOccurrences', { path: { id }, query: { limit: MOST } });
  return (
    <Show query={places} rows={8}>
      {({ data }) => (
        <>
          <PlaceList places={data} />
          {count > data.length && <p className="dim">The API lists {number(count - data.length)} more.</p>}
        </>
      )}
    </Show>
  );
}

function PlaceList({ places }: { places: Finding['occurrences'] }) {
  return (
    <ul className={css.list}>
      {places.map(({ id, place, state, track, last_seen }) => (
        <li key={id}>
          <span className="mono">{place}</span>{' '}
          <span className="dim">
            {track} · {state} · <Time at={last_seen} />
          </span>
        </li>
      ))}
    </ul>
  );
}
