import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['nuclei'],
  unit: 'raw_items',
  differs: [{ field: 'component_name', reason: 'the peer takes the name of a matcher for a component; here it is part of the rule' }],
};
