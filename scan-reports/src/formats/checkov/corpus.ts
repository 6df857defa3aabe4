import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['checkov'],
  unit: 'findings',
  differs: [{ field: 'component_name', reason: 'a resource that fails a check is not a software component; this format keeps it as location.resource' }],
};
