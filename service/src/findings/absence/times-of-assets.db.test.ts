import { expect, it } from 'vitest';
import { inLib, seen, useImports } from '../../testing/findings/imports.ts';

/** Reports that state when each host was scanned, and not when the whole scan took place. The scope states no time either. */
const engine = useImports();

const HOSTS = ['web1.example.com', 'web2.example.com'];
const stamp = (day: number): string => `202601${String(day).padStart(2, '0')}T120000000`;
const seconds = (day: number): number => Date.UTC(2026, 0, day, 12) / 1000;

interface Host {
  name: string;
  day: number | null;
  isVulnerable: boolean;
}

/** Each host has a scan of its own, and a test tells which. */
function nexpose(hosts: readonly Host[]): string {
  const scans = hosts.flatMap(({ day }, n) => (day === null ? [] : [`<scan id="${n}" startTime="${stamp(day)}" endTime="${stamp(day)}" status="finished"/>`]));
  const nodes = hosts.map(({ name, day, isVulnerable }, n) => {
    const test = `<test id="a" ${day === null ? '' : `scan-id="${n}" `}status="${isVulnerable ? 'vulnerable-exploited' : 'not-vulnerable'}"/>`;
    return `<node address="192.0.2.${n + 1}" status="alive"><names><name>${name}</name></names><tests>${test}</tests></node>`;
  });
  return `<NexposeReport version="2.0"><scans>${scans.join('')}<scan id="9" startTime="" status="finished"/></scans><nodes>${nodes.join('')}</nodes>
    <VulnerabilityDefinitions><vulnerability id="a" title="A" severity="8" cvssScore="8.0"/></VulnerabilityDefinitions></NexposeReport>`;
}

function nmap(hosts: readonly Host[]): string {
  const scanned = hosts.map(({ name, day, isVulnerable }, n) => {
    const port = '<port protocol="tcp" portid="23"><state state="open"/><service name="telnet"/></port>';
    return `<host${day === null ? '' : ` starttime="${seconds(day)}" endtime="${seconds(day)}"`}><status state="up"/><address addr="192.0.2.${n + 1}" addrtype="ipv4"/>
      <hostnames><hostname name="${name}" type="user"/></hostnames><ports>${isVulnerable ? port : ''}</ports></host>`;
  });
  return `<nmaprun scanner="nmap" version="7.94" args="nmap -sV"><scaninfo type="syn" protocol="tcp" services="1-1024"/>${scanned.join('')}
    <runstats><finished exit="success"/><hosts up="2" down="0" total="2"/></runstats></nmaprun>`;
}

it.each([
  ['nexpose', nexpose],
  ['nmap', nmap],
])('%s closes findings of the hosts whose time it states', async (format, report) => {
  const org = await engine.organization();
  const send = (days: readonly (number | null)[], isVulnerable: boolean) => {
    const hosts = HOSTS.map((name, n) => ({ name, day: days[n] ?? null, isVulnerable }));
    return engine.runFile(org, { format, name: 'report.xml', bytes: Buffer.from(report(hosts)) }, { coverage: 'complete' });
  };
  const statuses = async () => Object.fromEntries((await engine.findings(org)).map(({ asset, status }) => [asset, status]));
  await send([2, 2], true);
  expect(await send([5, null], false)).toMatchObject({ notes: expect.arrayContaining([expect.stringContaining('does not say when')]) });
  expect(await statuses()).toEqual({ 'web1.example.com': 'verified', 'web2.example.com': 'open' });
  await send([6, 6], false);
  expect(await statuses()).toEqual({ 'web1.example.com': 'verified', 'web2.example.com': 'verified' });
});

it('a report whose time cannot be right closes nothing on hosts whose own time it does not state', async () => {
  const org = await engine.organization();
  const own = { type: 'host', name: 'web1.example.com' } as const;
  const other = { type: 'host', name: 'web2.example.com' } as const;
  const stays = [own, other].map((asset) => inLib('still-there', { asset }));
  await engine.run(org, [seen({ asset: own }), seen({ asset: other }), ...stays], { scope: { coverage: 'complete', started_at: '2026-01-02T00:00:00Z' } });
  const ahead = new Date(Date.now() + 86_400_000);
  const time = new Date('2026-01-04T00:00:00Z');
  const times = [{ run: { started_at: ahead, finished_at: ahead } }, { run: { asset: own, started_at: time, finished_at: time } }];
  await engine.run(org, [...times, ...stays], { scope: { coverage: 'complete' } });
  const gone = (await engine.findings(org)).filter(({ location }) => location.component === 'lib');
  expect(gone.map(({ asset, status }) => [asset, status])).toEqual([
    ['web1.example.com', 'verified'],
    ['web2.example.com', 'open'],
  ]);
});
