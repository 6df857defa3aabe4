import { Type } from 'typebox';
import { ConnectorError, type Http, type HttpRequest, type HttpResponse } from '../../core/contract.ts';

export const permissions =
  'a fine-grained token that may read Metadata, Dependabot alerts, Code scanning alerts and Secret scanning alerts, or a classic one with repo and security_events, of an owner or security manager where it is for a whole organization';

/** How each kind is asked for, and what its reader knows it by, even in a record that has nothing else. */
const KINDS = {
  dependabot: { path: 'dependabot/alerts', query: {}, shape: { security_advisory: {} } },
  code_scanning: { path: 'code-scanning/alerts', query: {}, shape: { most_recent_instance: {}, rule: {} } },
  // Without it, the answer has the secrets themselves.
  secret_scanning: { path: 'secret-scanning/alerts', query: { hide_secret: true }, shape: { secret_type: '' } },
};

export type Kind = keyof typeof KINDS;
export const kinds = Object.keys(KINDS) as Kind[];

/** One of the lists that a run reads: a kind of alerts of an organization (`orgs/acme`) or of a repository (`repos/acme/shop`). */
export interface Part {
  kind: Kind;
  target: string;
}

interface Page {
  alerts: readonly object[];
  /** Parameters of the next page; empty when there is none. */
  next: string;
  /** The repository does not use this kind. */
  isOff: boolean;
}

const Answer = Type.Union([Type.Array(Type.Unknown()), Type.Object({ message: Type.String() })]);
const OFF = /disabled|not enabled|must be enabled|not available|no analysis found/i;

export async function alertsOf(http: Http, { kind, target }: Part, query: HttpRequest['query']): Promise<Page> {
  const { path, query: own, shape } = KINDS[kind];
  const answer = await http.json(Answer, { path: `${target}/${path}`, query: { ...own, ...query }, accept: [403, 404] });
  if (Array.isArray(answer.body)) return { alerts: answer.body.map((alert) => ({ ...shape, ...Object(alert) })), next: nextPage(answer), isOff: false };
  const { message } = answer.body as { message: string };
  if (target.startsWith('repos/') && OFF.test(message)) return { alerts: [], next: '', isOff: true };
  const [fault, advice] =
    answer.status === 403
      ? (['credentials', `These credentials may not read them: they need ${permissions}`] as const)
      : (['configuration', 'There is no such organization or repository, it does not use them, or the token may not know of it'] as const);
  throw new ConnectorError(fault, `GitHub does not show the ${kind.replace('_', ' ')} alerts of ${target} (${answer.status}). ${advice}. It says: ${message}`);
}

/** Of the link, only the position counts: the rest of the address is ours. */
export function nextPage({ headers }: Pick<HttpResponse<unknown>, 'headers'>): string {
  const [, link] = /<([^<>]*)>\s*;[^<]*\brel="next"/.exec(headers.link ?? '') ?? [];
  if (link === undefined || !URL.canParse(link)) return '';
  const position = [...new URL(link).searchParams].filter(([name]) => name === 'after' || name === 'page');
  return new URLSearchParams(position).toString();
}
