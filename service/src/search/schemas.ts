import { Type } from 'typebox';
import { Id, Named, Strict, Text } from '../http/schemas.ts';

export const SearchQuery = Strict({
  q: Text(1, 200, { description: 'Text to search for, ignoring case. Findings are searched as with `q` of `GET /findings`', examples: ['openssl'] }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: 'Number of results of each kind. Default: 5' })),
});

const SearchHit = Named('SearchHit', {
  id: Id,
  title: Type.String({ description: 'Name or title', examples: ['Buffer overflow in openssl'] }),
  hint: Type.String({
    description: 'What tells it from others of its kind: the asset of a finding, the type of an asset, a status or a provider',
    examples: ['web1.example.com'],
  }),
});
const hits = (description: string) => Type.Array(SearchHit, { description });

export const SearchResult = Named('SearchResult', {
  findings: hits('Findings, highest risk first'),
  assets: hits('Assets whose name or owner contains the text'),
  work_items: hits('Work items with all words, newest first'),
  packages: hits('Evidence packages of work items whose title contains the text, newest first'),
  connections: hits('Connections whose name contains the text'),
});
