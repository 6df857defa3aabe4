import { type EventsOptions, events, type RrsEvent } from './events.ts';
import { operations } from './operations.ts';
import { type ClientOptions, send } from './request.ts';
import type { AnyInput, Arguments, ItemOf, ListName, OperationName, ResultOf } from './types.ts';

export interface Client {
  /** Calls an operation by its name in the API description and returns what it responds. */
  call<Name extends OperationName>(name: Name, ...input: Arguments<Name>): Promise<ResultOf<Name>>;
  /** Like `call`, with the response, for its status and headers. */
  callWithResponse<Name extends OperationName>(name: Name, ...input: Arguments<Name>): Promise<{ data: ResultOf<Name>; response: Response }>;
  /** The items of a list, over all its pages. A page is fetched when its first item is needed. */
  list<Name extends ListName>(name: Name, ...input: Arguments<Name>): AsyncGenerator<ItemOf<Name>, void, undefined>;
  /** Events as they happen, without gaps after a lost connection. */
  events(options?: EventsOptions): AsyncGenerator<RrsEvent, void, undefined>;
}

export function createClient(options: ClientOptions): Client {
  async function callWithResponse<Name extends OperationName>(name: Name, ...[input = {}]: [AnyInput?]) {
    const response = await send(options, name, input);
    return { data: (await resultOf(name, response)) as ResultOf<Name>, response };
  }
  return {
    callWithResponse,
    call: async (name, ...input) => (await callWithResponse(name, ...input)).data,
    async *list<Name extends ListName>(name: Name, ...[input]: Arguments<Name>) {
      const { query = {}, ...rest }: AnyInput = input ?? {};
      let cursor: string | null | undefined;
      do {
        const { data } = await callWithResponse(name, { ...rest, query: { ...query, ...(cursor ? { cursor } : {}) } });
        yield* data.data as ItemOf<Name>[];
        cursor = data.page.next_cursor;
      } while (cursor);
    },
    events: (more) => events(options, more),
  };
}

async function resultOf(name: OperationName, response: Response): Promise<unknown> {
  const [, , kind] = operations[name];
  if (kind === 'stream') return response;
  return kind === 'none' || response.status === 204 ? undefined : response.json();
}
