import { isIP, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/**
 * The normal form of a host name or address: lower case, no trailing dot, internationalized names in Punycode, IPv6 addresses in their short form
 * without brackets and zone. A port or the rest of a URL is dropped. Text that is not a host name only loses its case.
 */
export function normalHost(text: string): string {
  const lower = text.trim().toLowerCase();
  const [bare = ''] = lower.replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?/, '').split(/[/?#]/, 1);
  const [address = ''] = bare.replace(/^\[(.*)\](?::\d+)?$/, '$1').split('%', 1);
  if (isIPv6(address)) return normalIpv6(address);
  const name = bare.replace(/:\d+$/, '').replace(/\.$/, '');
  if (isIP(name) !== 0) return name;
  // domainToASCII reads ASCII names that look like numbers as addresses, so it gets only names that need it.
  const ascii = /^[\x20-\x7e]*$/.test(name) ? name : domainToASCII(name);
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(ascii) ? ascii : lower;
}

function normalIpv6(address: string): string {
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const bytes = [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return bytes.join('.');
}
