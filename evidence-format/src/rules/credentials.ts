import type { TrailEvent } from '../document/decisions.ts';
import type { Person } from '../document/people.ts';
import type { Identities } from './identities.ts';
import { fieldOf } from './trail-values.ts';

export interface Credentials {
  add(event: TrailEvent): void;
  /**
   * Whether somebody gave one of these identities a credential since the work began, and can sign in with it, or whether one person gave both of them
   * one. Somebody who added everybody long before has no such interest in the work.
   */
  areShared(by: Person | null, identities: ReadonlySet<string | null>): boolean;
  /** Whether somebody else gave the identity a credential between two times, and can sign in with it. */
  wasGiven(identity: string, between: { from: string; to: string }): boolean;
}

const GIVING: ReadonlySet<string> = new Set(['member.added', 'member.invited']);
/** Times that are kept for each pair of people, so that a trail of new passwords only does not fill the memory. */
const MAX_TIMES = 100;

/** Collects from the audit trail who was added as a member, or given a password, since then and by whom. */
export function collectCredentials(identities: Identities, since: string): Credentials {
  const makers = new Map<string, Map<string, string[]>>();
  /** Nobody but the identity provider can sign in as a member who uses it. */
  const makersOf = (identity: string | null): string[] => {
    const behind = new Set(identities.behind(identity));
    return identity === null ? [] : [...(makers.get(identity) ?? new Map()).keys()].filter((maker) => behind.has(maker));
  };
  return {
    add({ action, actor, object, after, at }) {
      const isGiven = object.type === 'member' && (GIVING.has(action) || fieldOf(after, 'password') !== undefined);
      const [maker, member] = [identities.ofActor(actor), identities.of({ kind: 'member', id: object.id, name: '', person: object.id })];
      if (!isGiven || maker === null || member === null || maker === member || Date.parse(at) < Date.parse(since)) return;
      const given = makers.get(member) ?? new Map<string, string[]>();
      makers.set(member, given.set(maker, [...(given.get(maker) ?? []).slice(-MAX_TIMES), at]));
    },
    areShared(by, others) {
      const own = identities.of(by);
      const mine = new Set([own, ...makersOf(own)]);
      return [...others].some((other) => other !== own && makersOf(other).some((maker) => mine.has(maker)));
    },
    wasGiven: (identity, { from, to }) =>
      makersOf(identity).some((maker) =>
        makers
          .get(identity)
          ?.get(maker)
          ?.some((at) => Date.parse(at) >= Date.parse(from) && Date.parse(at) <= Date.parse(to)),
      ),
  };
}
