import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { nmap } from './index.ts';

const scaninfo = (protocol: string, services: string) => `<scaninfo protocol="${protocol}" services="${services}"/>`;
const port = (protocol: string, portid: number, state = 'open|filtered') => `<port protocol="${protocol}" portid="${portid}"><state state="${state}"/></port>`;
const host = (...ports: string[]) => `<host><address addr="192.0.2.1" addrtype="ipv4"/><ports>${ports.join('')}</ports></host>`;

test.each<[string, string[], string[]]>([
  ['all that are listed', [scaninfo('tcp', '1-1000,8443'), scaninfo('udp', '53'), host()], ['tcp/1-1000', 'tcp/8443', 'udp/53']],
  ['none if none are listed', [host()], []],
  ['ranges that overlap, once', [scaninfo('tcp', '10-20,15-30,31')], ['tcp/10-31']],
  [
    'all but those that can be open on one of the hosts',
    [scaninfo('udp', '1-9'), host(port('udp', 3)), host(port('udp', 7))],
    ['udp/1-2', 'udp/4-6', 'udp/8-9'],
  ],
  ['those of the other protocol', [scaninfo('tcp', '53'), scaninfo('udp', '53'), host(port('udp', 53))], ['tcp/53']],
  ['those that a firewall closes', [scaninfo('tcp', '22'), host(port('tcp', 22, 'filtered'))], ['tcp/22']],
  ['no port, and not all, if every one can be open', [scaninfo('udp', '53'), host(port('udp', 53))], ['any/0']],
  ['no port of a protocol that findings do not have', [scaninfo('sctp', '1-100')], ['any/0']],
  ['all others if none are listed', [host(port('udp', 53))], ['tcp/1-65535', 'udp/1-52', 'udp/54-65535']],
  ['no port that does not exist', [scaninfo('tcp', '70000,65000-99999,30-20,x')], ['tcp/65000-65535']],
])('a run says that it has looked at %s', async (_, elements, expected) => {
  const { runs } = await readAll(nmap, fromBuffer(`<nmaprun>${elements.join('')}</nmaprun>`));
  expect(runs.flatMap(({ ports = [] }) => ports)).toEqual(expected);
});
