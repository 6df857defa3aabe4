import type { ResultOf } from '@rrs/client';
import { useCallback } from 'react';
import { useApi } from './client.ts';

type Source = Pick<ResultOf<'listSources'>['data'][number], 'kind' | 'provider' | 'tool' | 'name'>;

/**
 * Providers and report formats as people call them: "Report storage" instead of "report_url". Both lists change only with the service. Until they are here,
 * nothing is shown: a word that becomes another one would be read twice. `isNeeded`: whether there is anything to name.
 */
export function useProviderNames(isNeeded = true): (provider: string) => string {
  const options = { staleTime: Number.POSITIVE_INFINITY, enabled: isNeeded };
  const { data: formats, error: noFormats } = useApi('listImportFormats', {}, options);
  const { data: providers, error: noProviders } = useApi('listIntegrationProviders', {}, options);
  const isComing = (formats === undefined && noFormats === null) || (providers === undefined && noProviders === null);
  return useCallback(
    (provider) => {
      if (provider === 'manual') return 'People';
      const known = [...(providers?.data ?? []), ...(formats?.data ?? [])].find(({ id }) => id === provider);
      return known?.name ?? (isComing ? '' : provider);
    },
    [formats, providers, isComing],
  );
}

/** The tool or provider of a source. */
export function useToolNames(): (source: Pick<Source, 'provider' | 'tool'>) => string {
  const named = useProviderNames();
  return useCallback(({ provider, tool }) => tool || named(provider), [named]);
}

/** The tool or provider of a source, and the name of the scan if it has one. */
export function useSourceNames(): (source: Source) => string {
  const toolOf = useToolNames();
  return ({ kind, provider, tool, name }) => [toolOf({ provider, tool }), ...(kind === 'manual' || name === '' || name === provider ? [] : [name])].join(', ');
}
