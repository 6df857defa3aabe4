import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['nuclei'],
  unit: 'raw_items',
  differs: [{ field: 'component_name', reason: 'the reference parser uses the matcher name as component; here it is part of the rule' }],
};
