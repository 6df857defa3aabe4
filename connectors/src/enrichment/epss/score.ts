import { RecordError } from '@rrs/scan-reports/normalize.ts';
import { num } from '@rrs/scan-reports/read.ts';
import type { Knowledge } from '../../core/contract.ts';
import { requiredCve } from '../../core/knowledge.ts';

export function scoreOf(given: { cve: unknown; epss: unknown; percentile: unknown }, date: string): Knowledge {
  return { id: requiredCve(given.cve, 'cve'), epss: { score: share(given.epss, 'epss'), percentile: share(given.percentile, 'percentile'), date } };
}

function share(value: unknown, field: string): number {
  const number = num(value);
  if (number === undefined || number < 0 || number > 1) throw new RecordError(`${field} is not a number from 0 to 1`);
  return number;
}
