import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['awssecurityhub', 'asff'],
  unit: 'raw_items',
  countsPositions: true,
  differs: [
    { field: 'component_name', reason: 'the reference parser writes the resource type here; this format keeps it as a tag, because a component is a package' },
    {
      field: 'host',
      reason: 'the reference parser derives host names from ARNs; this format names the image by its reference and keeps the ARN as an identifier',
    },
  ],
};
