import { createLog, type Log } from '../main/log.ts';

/** The service's log at level `trace`, kept in memory. */
export function createMemoryLog(): { log: Log; lines: () => Record<string, unknown>[]; text: () => string } {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  return { log: createLog('trace', destination), text: () => written.join(''), lines: () => written.map((line) => JSON.parse(line)) };
}
