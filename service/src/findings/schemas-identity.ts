import { Id, Named, Text } from '../http/schemas.ts';

export const FindingMerge = Named(
  'FindingMerge',
  { into: { ...Id, description: 'The finding that is the same' }, reason: Text(3, 2_000, { description: 'Why the two are the same' }) },
  { examples: [{ into: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', reason: 'two names of one library' }] },
);

export const FindingSplit = Named(
  'FindingSplit',
  { reason: Text(3, 2_000, { description: 'Why the two are different' }) },
  { examples: [{ reason: 'two different libraries' }] },
);
