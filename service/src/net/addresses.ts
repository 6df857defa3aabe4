import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Threat: server-side request forgery. Callers choose addresses, and must not reach networks that only this machine can reach.
 * Complete as of the IANA registries of special-purpose addresses (RFC 6890). Of IPv6, only 2000::/3 is assigned for global use, so everything else is refused.
 */
const PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
];

export class AddressRefused extends Error {
  constructor(host: string, address: string) {
    const at = host === address ? '' : ` (${host})`;
    super(`${address}${at} is in a private or reserved network; an operator can allow it with RRS_OUTBOUND_ALLOW`);
    this.name = 'AddressRefused';
  }
}

/** Decides which addresses may be connected to. The check uses the resolved address of the connection, so that a DNS change cannot bypass it. */
export interface Guard {
  assertAllowed(host: string): void;
  lookup: LookupFunction;
}

export function createGuard(allowedNetworks: readonly string[]): Guard {
  const refused = networks(PRIVATE);
  const allowed = networks(allowedNetworks);
  const isAllowed = (given: string): boolean => {
    // A resolver can add the interface of a link-local address: fe80::1%eth0.
    const address = given.split('%', 1)[0] ?? '';
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    return allowed.check(address, family) || !refused.check(address, family);
  };
  return {
    assertAllowed(host) {
      const address = host.replace(/^\[|\]$/g, '');
      // RFC 6761, section 6.3: these names always mean the machine that resolves them, which may be the proxy.
      const meant = /(^|\.)localhost\.?$/i.test(address) ? ['127.0.0.1', '::1'] : isIP(address) === 0 ? [] : [address];
      if (meant.length > 0 && !meant.some(isAllowed)) throw new AddressRefused(address, address);
    },
    lookup(host, options, done) {
      resolve(host, { ...options, all: true }, (error, found) => {
        if (error) return done(error, '', 0);
        const usable = found.filter(({ address }) => isAllowed(address));
        const [first] = usable;
        if (!first) return done(new AddressRefused(host, found[0]?.address ?? host), '', 0);
        if (options.all) done(null, usable);
        else done(null, first.address, first.family);
      });
    },
  };
}

function networks(list: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const item of list) {
    const [address = '', bits] = item.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    blocks.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return blocks;
}
