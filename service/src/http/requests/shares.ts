import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';

export interface ShareLimits {
  perOrganization: number;
  perCredential: number;
}

type Holder = Pick<Actor, 'orgId' | 'type' | 'id'>;

/** How many of something that lasts, such as a stream, an organization and a credential may hold at once in this process. */
export function createShares({ perOrganization, perCredential }: ShareLimits) {
  const held = new Map<string, number>();
  const add = (key: string, difference: number): void => {
    const count = (held.get(key) ?? 0) + difference;
    if (count === 0) held.delete(key);
    else held.set(key, count);
  };
  return {
    /** Returns a function that gives the share back, or null if there is none left. */
    take({ orgId, type, id }: Holder): (() => void) | null {
      const credential = `${orgId}/${type}/${id}`;
      if ((held.get(orgId) ?? 0) >= perOrganization || (held.get(credential) ?? 0) >= perCredential) return null;
      const keys = [orgId, credential];
      for (const key of keys) add(key, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const key of keys) add(key, -1);
      };
    },
    /** `what` is in the plural: "exports". */
    takeOrRefuse(holder: Holder, what: string): () => void {
      const release = this.take(holder);
      if (release) return release;
      throw new AppError(
        'rate_limited',
        `Too many ${what} at once: at most ${perCredential} for each credential and ${perOrganization} for your organization. Wait until one ends.`,
        { headers: { 'retry-after': '5' } },
      );
    },
  };
}
