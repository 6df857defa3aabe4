import { createClient, type InputOf, type OperationName, type ResultOf, RrsError } from '@rrs/client';
import { keepPreviousData, MutationCache, QueryCache, QueryClient, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query';
import { announceRetry } from './retrying.ts';

/** The API at this address. The browser sends its session cookie, so no script ever sees a credential. */
export const api = createClient({ url: location.origin, onRetry: ({ seconds, reason }) => announceRetry(seconds, reason) });

type SignedOut = () => void;
let onSignedOut: SignedOut = () => {};
/** Names what happens when the session ended: a dialog asks to sign in again over the page, so that no work is lost. */
export const whenSignedOut = (handler: SignedOut): void => {
  onSignedOut = handler;
};

function watch(error: unknown): void {
  if (error instanceof RrsError && error.status === 401) onSignedOut();
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: watch }),
  mutationCache: new MutationCache({ onError: watch }),
  defaultOptions: {
    // The client of the API repeats what can be repeated.
    queries: { retry: false, staleTime: 10_000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

interface Options {
  enabled?: boolean;
  /** Keeps the last answer on the screen while another one is on its way. */
  keep?: boolean;
  refetchInterval?: number | false;
  staleTime?: number;
}

/** Reads an operation of the API. The key is its name and input, so that `refresh('listAssets')` reaches all its uses. */
export function useApi<Name extends OperationName>(name: Name, input: InputOf<Name>, { keep, ...options }: Options = {}): UseQueryResult<ResultOf<Name>> {
  return useQuery({ ...readOf(name, input), ...(keep ? { placeholderData: keepPreviousData } : {}), ...options });
}

/** The same for loaders and for reading ahead. */
export function readOf<Name extends OperationName>(name: Name, input: InputOf<Name>) {
  return {
    queryKey: [name, input] as const,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<ResultOf<Name>> => call(name, { ...input, signal }),
  };
}

/** `api.call` with an input that is always given. */
export function call<Name extends OperationName>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
  const send = api.call as (name: OperationName, input: InputOf<Name>) => Promise<ResultOf<Name>>;
  return send(name, input);
}

/** Changes something. What it `changes` is read again. */
export function useChange<Name extends OperationName>(name: Name, changes: readonly OperationName[], onDone?: (result: ResultOf<Name>) => void) {
  return useMutation({
    mutationFn: (input: InputOf<Name>) => call(name, input),
    onSuccess: async (result) => {
      onDone?.(result);
      await refresh(...changes);
    },
    // Somebody else was faster: what is on the screen is read again.
    onError: async (error) => {
      if (error instanceof RrsError && (error.status === 409 || error.status === 412)) await refresh(...changes);
    },
  });
}

/** Marks answers as out of date. Those on the screen are read again. */
export async function refresh(...names: OperationName[]): Promise<void> {
  await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })));
}
