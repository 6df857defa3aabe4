import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['checkov'],
  unit: 'findings',
  differs: [{ field: 'component_name', reason: 'the resource that a check fails for is no software component: it is kept as location.resource' }],
};
