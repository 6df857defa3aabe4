import type { ResultOf } from '@rrs/client';
import { useApi } from './client.ts';

type Source = Pick<ResultOf<'listSources'>['data'][number], 'kind' | 'provider' | 'tool' | 'name'>;

const FOREVER = { staleTime: Number.POSITIVE_INFINITY };

/** Providers and report formats as people call them: "Report storage" instead of "report_url". Both lists change only with the service. */
export function useProviderNames(): (provider: string) => string {
  const formats = useApi('listImportFormats', {}, FOREVER);
  const providers = useApi('listIntegrationProviders', {}, FOREVER);
  const known = [...(providers.data?.data ?? []), ...(formats.data?.data ?? [])];
  return (provider) => known.find(({ id }) => id === provider)?.name ?? provider;
}

/** The tool or provider of a source, and the name of the scan if it has one. */
export function useSourceNames(): (source: Source) => string {
  const named = useProviderNames();
  return ({ kind, provider, tool, name }) => {
    if (kind === 'manual') return 'People';
    return [tool || named(provider), ...(name === '' || name === provider ? [] : [name])].join(', ');
  };
}
