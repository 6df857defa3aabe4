import { type EvidenceDocument, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';

/** By member: who else last gave the member a credential and when, and since when an account of the identity provider is linked. */
export type GivenCredentials = Map<string, { by: string | null; at: string; linkedAt: string | null }>;

/** Adds the next event. */
export function addCredential(given: GivenCredentials, { at, action, actor, object, after }: TrailEvent): void {
  if (object.type !== 'member') return;
  const known = given.get(object.id) ?? { by: null, at: '', linkedAt: null };
  const isGiven = action === 'member.added' || action === 'member.invited' || fieldOf(after, 'password') !== undefined;
  if (isGiven && actor.person !== object.id) given.set(object.id, { ...known, by: actor.person, at });
  if (action === 'member.subject_linked') given.set(object.id, { ...known, linkedAt: at });
  if (action === 'member.subject_unlinked') given.set(object.id, { ...known, linkedAt: null });
}

/** Whoever gave a member a credential can sign in as that member, until an account of the identity provider is linked. The trail names no key without a member. */
export function* credentialFaults({ people }: EvidenceDocument, given: GivenCredentials): Generator<Fault> {
  for (const { id, credential_from } of people) {
    const { by, at, linkedAt } = given.get(id) ?? { by: null, at: '', linkedAt: null };
    if (by === null || (linkedAt !== null && at <= linkedAt) || by === credential_from) continue;
    const detail = `The audit trail records somebody else who gave the person ${id} a credential.`;
    yield { code: 'recorded_otherwise', file: EVIDENCE, detail, expected: by, actual: credential_from ?? 'nobody' };
  }
}
