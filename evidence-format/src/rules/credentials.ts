import type { TrailEvent } from '../document/decisions.ts';
import type { Person } from '../document/people.ts';
import type { Identities } from './identities.ts';
import { fieldOf } from './trail-values.ts';

export interface Credentials {
  add(event: TrailEvent): void;
  /**
   * Whether one person gave both somebody and one of these identities a credential since the work began, and can sign in as either of them. Somebody
   * who added everybody long before has no such interest in the work.
   */
  areShared(by: Person | null, identities: ReadonlySet<string | null>): boolean;
}

/** Collects from the audit trail who was added as a member, or given a password, since then and by whom. */
export function collectCredentials(identities: Identities, since: string): Credentials {
  const makers = new Map<string, Set<string>>();
  /** Nobody but the identity provider can sign in as a member who uses it. */
  const makersOf = (identity: string | null): string[] => {
    const behind = new Set(identities.behind(identity));
    return identity === null ? [] : [...(makers.get(identity) ?? [])].filter((maker) => behind.has(maker));
  };
  return {
    add({ action, actor, object, after, at }) {
      const isGiven = object.type === 'member' && (action === 'member.added' || fieldOf(after, 'password') !== undefined);
      const maker = identities.ofActor(actor);
      if (!isGiven || maker === null || maker === object.id || Date.parse(at) < Date.parse(since)) return;
      makers.set(object.id, (makers.get(object.id) ?? new Set()).add(maker));
    },
    areShared(by, others) {
      const own = identities.of(by);
      const mine = new Set(makersOf(own));
      return [...others].some((other) => other !== own && makersOf(other).some((maker) => mine.has(maker)));
    },
  };
}
