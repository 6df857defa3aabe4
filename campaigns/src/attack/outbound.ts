import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call } from '../../../service/src/testing/http/api.ts';
import type { Outcome } from '../figures.ts';
import { createOrganizations } from '../organizations.ts';
import { startService, temporaryDataDir } from '../processes.ts';

/** Ways to write the address of this machine, of its network, and of the metadata services of clouds. */
const HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '017700000001', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '0', '0.0.0.0'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '127.0.0.1.', '%31%32%37.0.0.1', '①②⑦.0.0.1', '１２７.0.0.1'],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
  ],
  ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[5f00::1]', '[100::1]', '[2001:db8::1]'],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '169.254.170.2',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
];
const SCHEMES = [
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'unix:/tmp/x',
  'ws://127.0.0.1/',
  'jar:http://127.0.0.1!/',
];

/** Webhooks and connections to addresses that nobody outside may reach through the service. */
export async function outboundSet(used?: string): Promise<Outcome> {
  let hits = 0;
  const internal = createServer((_, response) => {
    hits++;
    response.end('{}');
  });
  internal.listen(0, '::');
  await once(internal, 'listening');
  const { port } = internal.address() as AddressInfo;
  const { dataDir, remove } = temporaryDataDir(used);
  const service = await startService(dataDir, { LOG_LEVEL: 'error' });
  const violations: string[] = [];
  let tried = 0;
  try {
    const [organization] = await createOrganizations(dataDir, ['ours']);
    const as = organization?.keys.owner ?? '';
    const send = (method: string, path: string, body?: object) => call(service.url, method, `/api/v1${path}`, { as, ...(body ? { body } : {}) });
    const attempt = async (url: string, path: string, body: object): Promise<void> => {
      tried++;
      const made = await send('POST', path, body);
      if (made.status >= 500) violations.push(`${path} with ${url}: ${made.status}`);
      if (made.status !== 201) return;
      const { id } = made.body as { id: string };
      const tested = await send('POST', `${path}/${id}/test`);
      if (tested.status >= 500 && tested.status !== 502) violations.push(`the test of ${url}: ${tested.status} ${JSON.stringify(tested.body)}`);
      await send('DELETE', `${path}/${id}`);
    };
    const urls = [
      ...HOSTS.map((host) => `http://${host}:${port}/`),
      ...SCHEMES,
      `http://user:pass@127.0.0.1:${port}/`,
      `http://example.com@127.0.0.1:${port}/`,
    ];
    for (const url of urls) {
      await attempt(url, '/webhooks', { url, event_types: ['*'] });
      await attempt(url, '/integrations', { provider: 'report_url', name: url.slice(0, 100), config: { url, format: 'generic' }, schedule: null });
      const credentials = { email: 'a@b.example', token: 'token-of-a-campaign' };
      await attempt(url, '/integrations', {
        provider: 'jira',
        name: `jira ${url}`.slice(0, 100),
        config: { api_url: url, project_key: 'SEC' },
        credentials,
        schedule: null,
      });
    }
    if (hits > 0) violations.push(`${hits} requests reached the internal server`);
    if (service.ended()) violations.push('outbound: the service ended');
  } finally {
    await service.stop();
    internal.closeAllConnections();
    internal.close();
    remove();
  }
  return { figures: [['outbound: addresses tried, requests that arrived', `${tried}, ${hits}`]], violations };
}
