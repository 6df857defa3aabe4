import { createLog, type Log } from '../main/log.ts';

type Destination = Parameters<typeof createLog>[1];

/** The service's log at level `trace`, kept in memory. */
export function createMemoryLog(): { log: Log; lines: () => Record<string, unknown>[]; text: () => string } {
  const written: string[] = [];
  // cast: the log only writes to its destination.
  const destination = { write: (line: string) => written.push(line) } as unknown as Destination;
  return { log: createLog('trace', destination), text: () => written.join(''), lines: () => written.map((line) => JSON.parse(line)) };
}
