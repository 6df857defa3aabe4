import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['burp', 'burp_api', 'burp_dastardly', 'burp_graphql'], unit: 'raw_items' };
