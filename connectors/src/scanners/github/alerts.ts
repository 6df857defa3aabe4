import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, HttpRequest, HttpResponse } from '../../core/contract.ts';

export const permissions =
  'a fine-grained token with read access to Metadata, Dependabot alerts, Code scanning alerts and Secret scanning alerts, or a classic token with the scopes repo and security_events, or a GitHub App with the same read access. For a whole organization, the token must belong to an owner or security manager';

/** How to request each kind. `shape` lets the report reader recognize the kind even of an otherwise empty record. */
const KINDS = {
  dependabot: { path: 'dependabot/alerts', query: {}, shape: { security_advisory: {} } },
  code_scanning: { path: 'code-scanning/alerts', query: {}, shape: { most_recent_instance: {}, rule: {} } },
  // Without hide_secret, the response contains the secrets.
  secret_scanning: { path: 'secret-scanning/alerts', query: { hide_secret: true }, shape: { secret_type: '' } },
};

export type Kind = keyof typeof KINDS;
export const kinds = Object.keys(KINDS) as Kind[];

/** One of the lists that a run reads: one kind of alerts of an organization (`orgs/acme`) or a repository (`repos/acme/shop`). */
export interface Part {
  kind: Kind;
  target: string;
}

interface Page {
  alerts: readonly object[];
  /** Query parameters of the next page. Empty if there is none. */
  next: string;
  /** This kind of alerts is disabled for the repository. */
  isDisabled: boolean;
}

const ResponseBody = Type.Union([Type.Array(Type.Unknown()), Type.Object({ message: Type.String() })]);
const DISABLED = /disabled|not enabled|must be enabled|not available|no analysis found/i;

export async function alertsOf(http: Http, { kind, target }: Part, query: HttpRequest['query']): Promise<Page> {
  const { path, query: own, shape } = KINDS[kind];
  const response = await http.json(ResponseBody, { path: `${target}/${path}`, query: { ...own, ...query }, accept: [403, 404] });
  if (Array.isArray(response.body))
    return { alerts: response.body.map((alert) => ({ ...shape, ...Object(alert) })), next: nextPage(response), isDisabled: false };
  const { message } = response.body as { message: string };
  if (target.startsWith('repos/') && DISABLED.test(message)) return { alerts: [], next: '', isDisabled: true };
  const [fault, advice] =
    response.status === 403
      ? (['credentials', `The credentials need: ${permissions}`] as const)
      : ([
          'configuration',
          'The organization or repository does not exist, does not use these alerts, or is not visible to the token. If it does not use them, choose the other kinds of alerts in the configuration',
        ] as const);
  throw new ConnectorError(
    fault,
    `GitHub did not return the ${kind.replace('_', ' ')} alerts of ${target} (${response.status}). ${advice}. Response: ${message}`,
    { status: response.status },
  );
}

/** Uses only the position in the link and builds the rest of the URL itself. */
export function nextPage({ headers }: Pick<HttpResponse<unknown>, 'headers'>): string {
  const [, link] = /<([^<>]*)>\s*;[^<]*\brel="next"/.exec(headers.link ?? '') ?? [];
  if (link === undefined || !URL.canParse(link)) return '';
  const position = [...new URL(link).searchParams].filter(([name]) => name === 'after' || name === 'page');
  return new URLSearchParams(position).toString();
}
