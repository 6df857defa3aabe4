import type { Finding, FindingHistoryEntry } from '@rrs/client';
import { useApi } from '../../../api/client.ts';
import { Section } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import css from './finding-detail.module.css';

export function History({ finding: { id } }: { finding: Finding }) {
  const history = useApi('listFindingHistory', { path: { id }, query: { limit: 50, sort: '-occurred_at' } });
  return (
    <Section title="History">
      <Show query={history}>
        {({ data }) => (
          <ol className={css.list}>
            {data.map((entry) => (
              <li key={entry.id}>
                {changesOf(entry)} {entry.reason && <span>“{entry.reason}”</span>}
                <div className="dim">
                  {entry.person?.name ?? entry.actor.name} · <Time at={entry.occurred_at} />
                </div>
              </li>
            ))}
          </ol>
        )}
      </Show>
    </Section>
  );
}

function changesOf({ action, before, after }: FindingHistoryEntry): string {
  const changed = Object.keys(after).filter((name) => typeof after[name] !== 'object' || after[name] === null);
  const words = changed.map((name) => `${term(name)}: ${wordOf(before[name])}${wordOf(after[name])}`);
  return words.length === 0 ? term(action.replace('finding.', '')) : words.join(', ');

  function wordOf(value: unknown): string {
    if (value === undefined || value === null) return '';
    const text = typeof value === 'string' ? term(value) : String(value);
    return value === after[changed.find((name) => after[name] === value) ?? ''] ? text : `${text} → `;
  }
}
