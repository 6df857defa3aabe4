import type { EvidencePreview, WorkItem } from '@rrs/client';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/client.ts';

/** What a package sealed now would state. Another version of the work item is another preview. */
export function usePreview({ id, version, findings }: WorkItem, enabled = true) {
  return useQuery({
    queryKey: ['createEvidencePackage', id, version, findings],
    queryFn: async ({ signal }): Promise<EvidencePreview> => {
      const result = await call('createEvidencePackage', { body: { work_item_id: id, dry_run: true }, signal });
      if ('package_id' in result) throw new Error('The service sealed a package instead of describing it.');
      return result;
    },
    enabled,
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
}
