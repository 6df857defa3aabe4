import { createHash } from 'node:crypto';
import { arr, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError, type FaultKind } from '../../core/connector-error.ts';
import type { Http, HttpRequest, Json } from '../../core/contract.ts';

export const PERMISSIONS = 'an API key of a member of the team with permission to read, create issues, write and create comments';

const ResponseBody = Type.Object({ data: Type.Optional(Type.Unknown()), errors: Type.Optional(Type.Unknown()) });

export interface GraphqlRequest {
  query: string;
  variables: Record<string, Json>;
  /** Retried if the response is lost. */
  repeatable: boolean;
}

export function requestOf({ query, variables, repeatable }: GraphqlRequest): HttpRequest {
  return { method: 'POST', path: 'graphql', json: { query, variables }, repeatable, accept: [400] };
}

/** GraphQL reports errors in responses with status 200. */
export async function send(http: Http, request: GraphqlRequest): Promise<Obj> {
  const { body } = await http.json(ResponseBody, requestOf(request));
  return dataOf(body);
}

export function dataOf({ data, errors }: Obj): Obj {
  const [error] = arr(errors);
  if (error === undefined) return obj(data);
  const { message, extensions } = obj(error);
  const { code, type, userPresentableMessage } = obj(extensions);
  const kind = kindOf(`${str(code)} ${str(type)}`.toLowerCase());
  const reason = (str(userPresentableMessage) ?? str(message) ?? 'no message').slice(0, 300);
  throw new ConnectorError(
    kind,
    kind === 'credentials' ? `Linear refused the credentials. They need: ${PERMISSIONS}. Response: ${reason}` : `Linear refused the request: ${reason}`,
  );
}

function kindOf(code: string): FaultKind {
  if (/authentication|forbidden/.test(code)) return 'credentials';
  if (/ratelimited|usage limit/.test(code)) return 'rate_limited';
  return /internal|network|lock timeout/.test(code) ? 'unavailable' : 'configuration';
}

export function nodes(connection: unknown): Obj[] {
  return arr(obj(connection).nodes).map(obj);
}

/** Derives a UUID from a text. It has the form of version 4, which Linear requires. */
export function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
