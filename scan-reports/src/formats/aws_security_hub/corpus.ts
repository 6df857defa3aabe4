import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['awssecurityhub', 'asff'],
  unit: 'raw_items',
  differs: [
    { field: 'component_name', reason: 'the peer puts the type of the resource there; we keep it as a tag, a component is a package' },
    { field: 'host', reason: 'the peer makes host names of ARNs; we name the image by its reference, the ARN stays an identifier' },
  ],
};
