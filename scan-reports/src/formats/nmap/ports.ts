import { child, type XmlElement } from '../../xml/elements.ts';

const LAST = 65_535;
const protocols = ['tcp', 'udp', 'any'] as const;
type Protocol = (typeof protocols)[number];

/** How many more ranges each port is in than the one before it. Reports can have any number of ranges. */
type Steps = Record<Protocol, Int32Array>;
const noPorts = (): Steps => ({ tcp: new Int32Array(LAST + 2), udp: new Int32Array(LAST + 2), any: new Int32Array(LAST + 2) });

/** Adds "1-1000,8443". Returns whether there was a port. */
function add(all: Steps, protocol: string, list: string): boolean {
  const known = protocols.find((one) => one === protocol);
  let some = false;
  for (const range of list.split(',')) {
    const [, low, high = low] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range) ?? [];
    if (low === undefined) continue;
    some = true;
    const [first, end] = [Number(low), Math.min(Number(high), LAST) + 1];
    if (known === undefined || first >= end) continue;
    const steps = all[known];
    steps[first] = (steps[first] ?? 0) + 1;
    steps[end] = (steps[end] ?? 0) - 1;
  }
  return some;
}

/** Collects which ports a run has looked at. */
export function collectPorts() {
  const [scanned, undetermined] = [noPorts(), noPorts()];
  let [isListed, isDoubtful, hasUdp] = [false, false, false];
  return {
    scanned({ protocol = 'any', services = '' }: XmlElement['attributes']): void {
      if (add(scanned, protocol, services)) isListed = true;
      if (protocol === 'udp') hasUdp = true;
    },
    /** Nothing has answered on ports that are "open|filtered", so they can still be open. */
    host(host: XmlElement): void {
      const doubt = (protocol: string, list = `0-${LAST}`) => {
        if (add(undetermined, protocol, list)) isDoubtful = true;
      };
      for (const element of child(host, 'ports')?.children ?? []) {
        const { protocol = 'any', portid, state } = element.attributes;
        if (element.name === 'port' && child(element, 'state')?.attributes.state === 'open|filtered') doubt(protocol, portid);
        if (element.name !== 'extraports' || state !== 'open|filtered') continue;
        // Older versions do not say which ports these are. Mostly, they are of UDP.
        const unnamed = hasUdp ? 'udp' : 'any';
        const reasons = element.children.filter(({ name }) => name === 'extrareasons');
        if (reasons.length === 0) doubt(unnamed);
        for (const { attributes } of reasons) doubt(attributes.proto ?? unnamed, attributes.ports);
      }
    },
    /** As `tcp/1-1024`: the ports of which the run could tell for all hosts whether they are open. Empty if it may have looked at all. */
    list(): string[] {
      if (!isListed && !isDoubtful) return [];
      if (!isListed) for (const protocol of ['tcp', 'udp']) add(scanned, protocol, `1-${LAST}`);
      const all = protocols.flatMap((protocol) => rangesOf(protocol, scanned, undetermined));
      // There is no port 0: an empty list would stand for all ports.
      return all.length > 0 ? all : ['any/0'];
    },
  };
}

function rangesOf(protocol: Protocol, scanned: Steps, undetermined: Steps): string[] {
  const ranges: string[] = [];
  const counts = { scanned: 0, tcp: 0, udp: 0, any: 0 };
  let first: number | null = null;
  for (let port = 0; port <= LAST + 1; port++) {
    counts.scanned += scanned[protocol][port] ?? 0;
    for (const one of protocols) counts[one] += undetermined[one][port] ?? 0;
    const isDoubted = counts.any > 0 || (protocol === 'any' ? counts.tcp + counts.udp : counts[protocol]) > 0;
    const isSeen = counts.scanned > 0 && !isDoubted;
    if (isSeen) first ??= port;
    if (isSeen || first === null) continue;
    ranges.push(first === port - 1 ? `${protocol}/${first}` : `${protocol}/${first}-${port - 1}`);
    first = null;
  }
  return ranges;
}
