import { obj } from '@rrs/scan-reports/read.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json, Ticketing } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import { type FakeResponse, type FakeVendor, type RunningFake, serveFake } from '../testing/fake-server.ts';
import { contextOf } from '../testing/host.ts';

/**
 * Captured links stay within the configured project. Threat: the credentials of a connection may read more than the people who may add evidence, and
 * whoever adds a link chooses what the service reads with them.
 */
interface Outside {
  /** A link to the first ticket of the fake. */
  inside: string;
  /** Links to records of other projects on the same site. */
  others: readonly string[];
  /** What the vendor returns for the first ticket after it was moved to another project. Null if that has another link. */
  moved: ((record: Json) => Json) | null;
}

const withField = (record: Json, path: readonly string[], value: Json): Json => {
  const [key = '', ...rest] = path;
  const fields = obj(record) as Record<string, Json>;
  return { ...fields, [key]: rest.length === 0 ? value : withField(fields[key] ?? {}, rest, value) };
};
const moving =
  (path: string, value: Json) =>
  (record: Json): Json =>
    withField(record, path.split('/'), value);

const ofJira = (site: string): Outside => ({
  inside: `${site}browse/SEC-1`,
  others: ['browse/HR-1', 'browse/SECRET-1', 'projects/SEC/issues/HR-1', 'browse/SEC-1/../HR-1', 'browse/HR-1#SEC-1'].map((path) => `${site}${path}`),
  moved: moving('key', 'HR-7'),
});
const SYS_ID = /^[0-9a-f]{32}$/;
const outside: Record<string, Outside> = {
  jira: ofJira(''),
  jira_data_center: ofJira('jira/'),
  github_issues: {
    inside: 'acme/security/issues/1',
    others: [
      ...['acme/shop/issues/1', 'acme/security2/issues/1', 'other/security/issues/1', 'acme/security/../shop/issues/1', 'acme/shop/pull/7'],
      ...['acme/shop/issues/1?repo=acme/security', 'acme/shop/issues/1#acme/security', 'acme%2Fsecurity/issues/1', 'acme/security%2F../shop/issues/1'],
    ],
    moved: moving('html_url', 'http://site/acme/hr/issues/7'),
  },
  gitlab_issues: {
    inside: 'acme/platform/security/-/issues/1',
    others: [
      ...['acme/shop/-/issues/1', 'acme/platform/-/issues/1', 'acme/platform/security/sub/-/issues/1', 'other/platform/security/-/issues/1'],
      ...[
        'acme/platform/security/../../shop/-/issues/1',
        'platform/security/-/issues/1',
        'acme/platform/security2/-/issues/1',
        'acme/shop/-/commit/6104942438c1',
      ],
    ],
    moved: null,
  },
  azure_devops: {
    inside: 'acme/Shop%20Floor/_workitems/edit/1',
    others: ['other/Shop%20Floor/_workitems/edit/1', 'acme/Shop%20Floor/_git/hr/commit/1', 'acme2/Shop%20Floor/_workitems/edit/1'],
    moved: moving('fields/System.TeamProject', 'HR'),
  },
  linear: {
    inside: 'acme/issue/SEC-1/weakness',
    others: ['acme/issue/HR-1', 'acme/issue/SECRET-1', 'other/issue/SEC-1', 'acme/issue/SEC-1/../HR-1', 'acme/project/SEC-1'],
    moved: moving('data/issue/identifier', 'HR-7'),
  },
  servicenow: {
    inside: 'incident.do?sys_id=',
    others: ['problem.do?sys_id=', 'hr_case.do?sys_id=', 'incident_task.do?sys_id=', 'now/sow/record/hr_case/', 'hr_case.do?x=/incident.do&sys_id='],
    moved: null,
  },
};

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

const cases = connectors.flatMap((connector) => (connector.kind === 'ticketing' ? [[connector.id, connector] as const] : []));

it('covers every ticketing connector', () => {
  expect(Object.keys(outside).sort()).toEqual(cases.map(([id]) => id).sort());
});

/** The vendor's fake, which answers a read of one ticket with a changed record. */
async function started(ticketing: Ticketing, change: (record: Json) => Json = (record) => record) {
  const vendor = fakes.find(({ id }) => id === ticketing.id) as FakeVendor;
  const answer: FakeVendor['answer'] = (options) => {
    const original = vendor.answer(options);
    return async (request): Promise<FakeResponse> => {
      const response = await original(request);
      const isRecord = (request.method === 'GET' || request.body.includes('issue(id:')) && typeof response.body === 'object' && !Array.isArray(response.body);
      return isRecord ? { ...response, body: change(response.body as Json) } : response;
    };
  };
  const fake = await serveFake({ ...vendor, answer }, { pageSize: 10 });
  running.push(fake);
  return { fake, context: contextOf(ticketing, vendor.settings(fake.origin)) };
}

describe.each(cases)('%s', (id, ticketing) => {
  const { inside, others, moved } = outside[id] as Outside;
  const capture = async (link: string, change?: (record: Json) => Json) => {
    const { fake, context } = await started(ticketing, change);
    const ticket = await ticketing.find(context, 'seed-1');
    const site = id === 'linear' ? 'https://linear.app' : fake.origin;
    const url = `${site}/${link}${/[=/]$/.test(link) && SYS_ID.test(ticket?.id ?? '') ? ticket?.id : ''}`;
    fake.requests.splice(0);
    return (await ticketing.capture?.(context, url))?.bytes.toString() ?? null;
  };

  it('captures a link of the configured project', async () => {
    expect(await capture(inside)).toContain('Weakness 1');
  });

  it.each(others)('does not capture %s', async (link) => {
    expect(await capture(link)).toBeNull();
  });

  it.each(moved === null ? [] : [moved])('does not capture a ticket that was moved to another project', async (change) => {
    expect(await capture(inside, change)).toBeNull();
  });
});
