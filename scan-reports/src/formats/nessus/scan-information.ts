import type { RunFacts } from '../../contract.ts';
import { date } from '../../shared/read.ts';

/** The plugin "Nessus Scan Information", whose output describes the scan of a host. */
export const SCAN_INFORMATION = '19506';

/** The plugin "Ping the remote host". If the host did not answer, no other plugin had a result. */
export const PING = '10180';

export function isDead(output: string): boolean {
  return /\bis considered (?:as )?dead\b|\bis dead\b/i.test(output);
}

export function scanInformation(output: string | undefined): Pick<RunFacts, 'tool_version' | 'knowledge' | 'knowledge_at' | 'credentialed' | 'ports'> {
  const value = (label: string): string | undefined => new RegExp(`^[ \\t]*${label}\\s*:\\s*(\\S+)`, 'm').exec(output ?? '')?.[1];
  const version = value('Nessus version');
  const feed = value('Plugin feed version');
  const published = feedTime(feed);
  const ports = portsIn(value('Port range'));
  const [answer] = /^(?:yes|no)\b/i.exec(value('Credentialed checks') ?? '') ?? [];
  return {
    ...(version === undefined ? {} : { tool_version: version }),
    ...(feed === undefined ? {} : { knowledge: feed }),
    ...(published === null ? {} : { knowledge_at: published }),
    ...(ports.length === 0 ? {} : { ports }),
    ...(answer === undefined ? {} : { credentialed: answer.toLowerCase() === 'yes' }),
  };
}

/** A range can have a name, such as "default", which does not say which ports it has. */
function portsIn(range: string | undefined): string[] {
  if (range === 'all') return ['any/1-65535'];
  return /^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/.test(range ?? '') ? (range ?? '').split(',').map((part) => `any/${part}`) : [];
}

/** A feed version is its time of publication: "202203230748". */
function feedTime(feed: string | undefined): Date | null {
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(feed ?? '') ?? [];
  return minute === undefined ? null : date(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
}
