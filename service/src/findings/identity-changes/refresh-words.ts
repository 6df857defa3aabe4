import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { wordsOfName } from '../words.ts';

interface Renaming {
  /** Selects the findings. */
  ids: RawBuilder<unknown>;
  from: string;
  to: string;
}

/** Lets findings be found by the new name of their asset. Words of the old one stay where something else about the finding contains them. */
export async function refreshNameWords(tx: TenantTx, orgId: string, { ids, from, to }: Renaming): Promise<void> {
  const added = wordsOfName(to);
  const gone = wordsOfName(from).filter((word) => !added.includes(word));
  const unused = (text: RawBuilder<unknown>) => sql`position(substr(word, 3) in lower(${text})) = 0`;
  await sql`
    update findings f set search = ts_delete(f.search, old.words) || array_to_tsvector(${added}::text[])
    from (
      select one.id, array(select word from unnest(${gone}::text[]) as word where ${unused(sql`about.text`)}) as words
      from findings one cross join lateral (
        select concat_ws(' ', one.title, one.component, one.rule, one.location::text, one.vulnerability_ids::text, (
          select string_agg(concat_ws(' ', s.said->>'title', s.said->>'component', s.said->>'rule', s.said->>'location'), ' ') from sightings s
          where s.org_id = ${orgId} and s.finding_id = one.id and s.said is not null)) as text offset 0
      ) about
      where one.org_id = ${orgId} and one.id in (${ids})
    ) old
    where f.org_id = ${orgId} and f.id = old.id`.execute(tx);
  await sql`
    update sightings s set said = jsonb_set(s.said, '{words}', to_jsonb(array(
      select word from jsonb_array_elements_text(s.said->'words') as word
      where word <> all(${gone}::text[]) or not ${unused(sql`concat_ws(' ', s.said->>'title', s.said->>'component', s.said->>'rule', s.said->>'location')`)}
      union select unnest(${added}::text[]))))
    where s.org_id = ${orgId} and s.said is not null and s.finding_id in (${ids})`.execute(tx);
}
