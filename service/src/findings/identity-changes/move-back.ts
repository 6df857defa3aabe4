import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { idsSql } from '../follower.ts';
import { copied, copiedButAbsence } from './move-sightings.ts';
import { rulesSql, stored, type Which } from './stored-sightings.ts';

const same = (one: string, other: string) =>
  sql`${sql.ref(`${one}.source_id`)} = ${sql.ref(`${other}.source_id`)} and ${sql.ref(`${one}.track`)} = ${sql.ref(`${other}.track`)}`;

/** What a statement is about, as far as the words of records say it. */
const topic = (x: string) => {
  const said = sql.ref(`${x}.said`);
  return sql`jsonb_build_array(${said}->'vulnerability_ids', ${said}->'component', ${said}->'rule')`;
};
/** Whether a statement is about what one of two was about, and not the other one. One that stands for records of both has the words of both. */
const isAbout = (x: string, one: string, other: string) => {
  const words = (name: string) => sql`(${sql.ref(`${name}.said`)}->'words')`;
  return sql`(${topic(x)} = ${topic(one)} and ${topic(x)} is distinct from ${topic(other)} and not coalesce(${words(x)} @> ${words(other)}, false))`;
};

interface Round {
  /** The rules that are undone now, no two of which share a finding, and all that are undone. */
  ids: readonly string[];
  all: readonly string[];
  /** Whether what scans have shown since the merge goes to the finding that said it before, and to both if neither did. */
  attributes: boolean;
}

/** Gives both findings of each rule the sightings and occurrences that they had before the merge. */
export async function moveBack(tx: TenantTx, orgId: string, { ids, all, attributes }: Round): Promise<void> {
  const rules = rulesSql(orgId, idsSql(ids));
  // A later merge has added what the same source said about another finding.
  const standsForMore = sql`exists (
    select from identity_rules later cross join lateral jsonb_populate_recordset(null::sightings, later.undo->'a'->'sightings') more
    where later.org_id = ${orgId} and later.b = r.b and later.revoked_at is null and later.created_at >= r.created_at and later.id <> all(${all as string[]}::uuid[]) and ${same('more', 's')})`;
  await sql`
    with ${rules}
    update sightings s set finding_id = r.a from r cross join lateral ${stored('a', 'sightings')} own
    where s.org_id = ${orgId} and s.finding_id = r.b and ${same('s', 'own')} and (not ${attributes} or s.last_seen <= own.last_seen or s.content = own.content) and not ${standsForMore}
      and not exists (select from ${stored('b', 'sightings')} theirs where ${same('theirs', 'own')})`.execute(tx);
  await sql`
    with ${rules}
    insert into sightings select own.* from r cross join lateral ${stored('a', 'sightings')} own
    on conflict (org_id, finding_id, source_id, track) do nothing`.execute(tx);
  if (attributes) await showBoth(tx, orgId, rules);
  if (attributes) await giveBoth(tx, orgId, rules);
  if (attributes) await repeatOwn(tx, orgId, rules, standsForMore);
  const isGone = sql`${attributes} and s.state = 'absent' and theirs.state = 'present' and theirs.last_seen < s.absent_at`;
  // Sightings of which both findings had one: the one that stayed says what it said before, unless a scan has shown it since, or it stands for further ones.
  await sql`
    with ${rules}
    update sightings s set ${copiedButAbsence('theirs', 's', isGone)}, records = theirs.records
    from r cross join lateral ${stored('b', 'sightings')} theirs join lateral ${stored('a', 'sightings')} own on ${same('own', 'theirs')}
    where s.org_id = ${orgId} and s.finding_id = r.b and ${same('s', 'theirs')} and not ${standsForMore}
      and ((s.content in (own.content, theirs.content) and s.last_seen <= greatest(own.last_seen, theirs.last_seen)) or (${attributes} and (s.content = own.content and own.content <> theirs.content or ${isAbout('s', 'own', 'theirs')})))`.execute(
    tx,
  );
  await sql`
    with ${rules}
    delete from occurrences o using r cross join lateral ${stored('a', 'occurrences')} own
    where o.org_id = ${orgId} and o.finding_id = r.b and ${same('o', 'own')} and o.place = own.place
      and not exists (select from ${stored('b', 'occurrences')} theirs where ${same('theirs', 'own')} and theirs.place = own.place)`.execute(tx);
  await sql`
    with ${rules}
    insert into occurrences select own.* from r cross join lateral ${stored('a', 'occurrences')} own
    on conflict (org_id, finding_id, source_id, track, place) do nothing`.execute(tx);
  // Findings that had been merged into this one before.
  await sql`
    with ${rules}
    update findings f set merged_into = r.a from r join identity_rules earlier on earlier.org_id = ${orgId} and earlier.b = r.a and earlier.revoked_at is null
    where f.org_id = ${orgId} and f.id = earlier.a and f.merged_into = r.b`.execute(tx);
  if (attributes) await forgetRecords(tx, orgId, rules);
}

/** Which of the two a record is about that scans have shown since the merge is not known: no report can repeat it, so the next one decides. */
async function forgetRecords(tx: TenantTx, orgId: string, rules: RawBuilder<unknown>): Promise<void> {
  for (const which of ['a', 'b'] as const) {
    await sql`
      with ${rules}
      update sightings s set content = sha256(s.content), external_id = null from r
      where s.org_id = ${orgId} and s.finding_id = ${sql.ref(`r.${which}`)}
        and not exists (select from ${stored(which, 'sightings')} own where ${same('own', 's')} and own.content = s.content)`.execute(tx);
  }
}

/** If reports have only repeated what the one that stayed had said, or what both had, it says that again. */
async function repeatOwn(tx: TenantTx, orgId: string, rules: RawBuilder<unknown>, standsForMore: RawBuilder<unknown>): Promise<void> {
  const values = ['content', 'said', 'severity', 'tool_severity', 'suppressed', 'external_id', 'records'];
  await sql`
    with ${rules}
    update sightings s set ${sql.join(values.map((column) => sql`${sql.ref(column)} = ${sql.ref(`theirs.${column}`)}`))}
    from r cross join lateral ${stored('b', 'sightings')} theirs join lateral ${stored('a', 'sightings')} own on ${same('own', 'theirs')}
    where s.org_id = ${orgId} and s.finding_id = r.b and ${same('s', 'theirs')} and not ${standsForMore}
      and s.content in (theirs.content, sha256(least(own.content, theirs.content) || greatest(own.content, theirs.content)))`.execute(tx);
}

/** What scans have shown since the merge, and neither of the two had said before, can have been either. */
async function showBoth(tx: TenantTx, orgId: string, rules: RawBuilder<unknown>): Promise<void> {
  await sql`
    with ${rules}
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null,
      last_seen = joint.last_seen, seen_import_id = joint.seen_import_id, last_import_id = joint.last_import_id
    from r cross join lateral ${stored('a', 'sightings')} own
    join sightings joint on joint.org_id = ${orgId} and joint.finding_id = r.b and joint.state = 'present' and ${same('joint', 'own')}
    left join lateral (select * from ${stored('b', 'sightings')} known where ${same('known', 'own')}) theirs on true
    where s.org_id = ${orgId} and s.finding_id = r.a and ${same('s', 'own')} and joint.last_seen > greatest(own.last_seen, theirs.last_seen)
      and (joint.content = own.content or joint.content is distinct from theirs.content) and not ${isAbout('joint', 'theirs', 'own')}`.execute(tx);
  await sql`
    with ${rules}
    update sightings s set ${copied('joint')}, records = joint.records from r cross join lateral ${stored('a', 'sightings')} own
    join lateral ${stored('b', 'sightings')} theirs on ${same('theirs', 'own')}
    join sightings joint on joint.org_id = ${orgId} and joint.finding_id = r.b and joint.state = 'present' and ${same('joint', 'own')}
    where s.org_id = ${orgId} and s.finding_id = r.a and ${same('s', 'own')} and ${isAbout('joint', 'own', 'theirs')}`.execute(tx);
}

/** What scans of a source and track have shown that had shown neither of the two before the merge, unless they only repeat what the one that stayed had said. */
async function giveBoth(tx: TenantTx, orgId: string, rules: RawBuilder<unknown>): Promise<void> {
  const isKnown = (which: Which) => sql`exists (select from ${stored(which, 'sightings')} known where ${same('known', 'joint')})`;
  const isNew = sql`not ${isKnown('a')} and not ${isKnown('b')} and not exists (select from ${stored('b', 'sightings')} theirs where theirs.content = joint.content)`;
  await sql`
    with ${rules}
    insert into sightings select copy.* from r
    join sightings joint on joint.org_id = ${orgId} and joint.finding_id = r.b and ${isNew}
    cross join lateral jsonb_populate_record(joint, jsonb_build_object('finding_id', r.a, 'external_id', null)) copy on conflict do nothing`.execute(tx);
  await sql`
    with ${rules}
    insert into occurrences select copy.* from r
    join sightings joint on joint.org_id = ${orgId} and joint.finding_id = r.b and ${isNew}
    join occurrences o on o.org_id = ${orgId} and o.finding_id = r.b and ${same('o', 'joint')}
    cross join lateral jsonb_populate_record(o, jsonb_build_object('finding_id', r.a)) copy on conflict do nothing`.execute(tx);
}

/** A finding, with the component and the identity key, in hex, that it gets. */
export interface Renaming {
  id: string;
  key: string | null;
  identity: string;
}

/** Gives findings other components. In two steps, because they can exchange their identity keys. */
export async function renameFindings(tx: TenantTx, orgId: string, renamed: readonly Renaming[]): Promise<void> {
  if (renamed.length === 0) return;
  const named = sql`jsonb_to_recordset(${JSON.stringify(renamed)}::jsonb) as renamed (id uuid, identity text, key text) where f.org_id = ${orgId} and f.id = renamed.id`;
  await sql`update findings f set identity_key = uuid_send(f.id) from ${named}`.execute(tx);
  await sql`update findings f set identity_key = decode(renamed.identity, 'hex'), component_key = renamed.key from ${named}`.execute(tx);
}
