import type { RunFacts } from '../../contract.ts';
import { date } from '../../shared/read.ts';

/** The plugin "Nessus Scan Information", whose output describes the scan of a host. */
export const SCAN_INFORMATION = '19506';

export function scanInformation(output: string | undefined): Pick<RunFacts, 'tool_version' | 'knowledge' | 'knowledge_at' | 'credentialed'> {
  const value = (label: string): string | undefined => new RegExp(`^[ \\t]*${label}\\s*:\\s*(\\S+)`, 'm').exec(output ?? '')?.[1];
  const version = value('Nessus version');
  const feed = value('Plugin feed version');
  const published = feedTime(feed);
  const [answer] = /^(?:yes|no)\b/i.exec(value('Credentialed checks') ?? '') ?? [];
  return {
    ...(version === undefined ? {} : { tool_version: version }),
    ...(feed === undefined ? {} : { knowledge: feed }),
    ...(published === null ? {} : { knowledge_at: published }),
    ...(answer === undefined ? {} : { credentialed: answer.toLowerCase() === 'yes' }),
  };
}

/** A feed version is its time of publication: "202203230748". */
function feedTime(feed: string | undefined): Date | null {
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(feed ?? '') ?? [];
  return minute === undefined ? null : date(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
}
