import type { View } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { call, queries, readOf, useApi } from './client.ts';

type DefaultViews = Partial<Record<View['list'], string>>;

const read = readOf('getPreferences', {});

/** The queries with which a person wants lists to open, on all devices. The navigation uses them. */
export function useDefaultViews(): [DefaultViews, (list: View['list'], query: string | null) => Promise<void>] {
  const preferences = useApi('getPreferences', {}, { staleTime: 300_000 });
  const store = useMutation({
    mutationFn: async ({ list, query }: { list: View['list']; query: string | null }) => {
      const current = await call('getPreferences', {});
      const { [list]: _before, ...others } = viewsOf(current);
      const body = { ...current, default_views: query === null ? others : { ...others, [list]: query } };
      queries.setQueryData(read.queryKey, await call('replacePreferences', { body }));
    },
  });
  return [viewsOf(preferences.data), (list, query) => store.mutateAsync({ list, query })];
}

function viewsOf(preferences: unknown): DefaultViews {
  const stored = (preferences as { default_views?: unknown } | undefined)?.default_views;
  return typeof stored === 'object' && stored !== null ? (stored as DefaultViews) : {};
}
