import type { ResultOf } from '@rrs/client';
import { useApi } from '../../api/client.ts';

export type Provider = ResultOf<'listIntegrationProviders'>['data'][number];

export type Connection = ResultOf<'getConnection'>;
/** What a change of a connection or of its runs makes out of date. */
export const CONNECTION_READS = ['getConnection', 'listConnections', 'getIntegrationHealth', 'listRuns', 'getRun'] as const;

export const kinds: Readonly<Record<Provider['kind'], string>> = {
  scanner: 'Scanner',
  enrichment: 'Vulnerability data',
  ticketing: 'Ticketing',
};

/** The catalog changes only with the service. */
export const useCatalog = () => useApi('listIntegrationProviders', {}, { staleTime: Number.POSITIVE_INFINITY });

const schedules = [
  { value: '15', label: 'Every 15 minutes' },
  { value: '60', label: 'Every hour' },
  { value: '360', label: 'Every 6 hours' },
  { value: '1440', label: 'Once a day' },
  { value: '10080', label: 'Once a week' },
];
export const ON_REQUEST = 'none';

/** What can be chosen, with the current value if it is another one. */
export function scheduleOptions(current: string): { value: string; label: string }[] {
  const isListed = current === ON_REQUEST || schedules.some(({ value }) => value === current);
  return [...schedules, ...(isListed ? [] : [{ value: current, label: `Every ${current} minutes` }]), { value: ON_REQUEST, label: 'Only on request' }];
}

export const scheduleOf = (value: string) => (value === ON_REQUEST ? null : { every_minutes: Number(value) });
export const scheduleText = (schedule: { every_minutes: number } | null): string => {
  const value = schedule === null ? ON_REQUEST : String(schedule.every_minutes);
  return scheduleOptions(value).find((option) => option.value === value)?.label ?? '';
};
