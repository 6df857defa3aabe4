import type { ResultOf } from '@rrs/client';
import { useQuery } from '@tanstack/react-query';
import { call, queries, readOf } from './client.ts';

export type Me = ResultOf<'getMe'>;
export type Permission = Me['permissions'][number];

const me = readOf('getMe', {});

export function useSession() {
  return useQuery({ ...me, staleTime: 60_000 });
}

/** The person who is signed in. Only for pages inside the frame, which shows them after it knows. */
export function useMe(): Me {
  const { data } = useSession();
  if (data === undefined) throw new Error('This page needs a session.');
  return data;
}

export function useMay(permission: Permission): boolean {
  return useMe().permissions.includes(permission);
}

const CHANNEL = 'rrs-session';

export async function signIn(email: string, password: string): Promise<void> {
  await signedIn(await call('createSession', { body: { email, password } }));
}

/** A new session began: what was read before belongs to nobody, or to somebody else. An invitation was used up by it. */
export async function signedIn(session: Me): Promise<void> {
  queries.setQueryData(me.queryKey, session);
  await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'getMe' && queryKey[0] !== 'getInvitation' });
}

/** Forgets everything that this browser knows, in all its tabs. */
export async function signOut(): Promise<void> {
  await call('deleteSession', {});
  new BroadcastChannel(CHANNEL).postMessage('signed out');
  leave();
}

function leave(): void {
  queries.clear();
  location.assign('/sign-in');
}

export function followSignOut(): void {
  new BroadcastChannel(CHANNEL).addEventListener('message', leave);
}
