import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { MOST_PREFERENCE_BYTES } from './views/limits.ts';

export const ViewParams = Strict({ id: { ...Id, description: 'Id of the view (UUIDv7)' } });

const List = OneOf(['findings', 'work_items', 'assets'] as const, { description: 'The list that the view is of' });
const Scope = OneOf(['mine', 'organization'] as const, { description: '`mine`: only you see the view. `organization`: everybody in your organization does' });
const Name = VisibleName(1, 100, {
  pattern: '\\S',
  description: 'Name of the view. Unique in its list and scope, ignoring case',
  examples: ['Fix first'],
});
const Query = Type.String({
  maxLength: 4_000,
  pattern: '^[^\\s?#]*$',
  description: 'Query parameters of the list, URL-encoded, as in the address of the list. Empty: no filter',
  examples: ['severity=critical,high&kev=true'],
});
const Columns = Type.Array(Text(1, 100, { description: 'Name of a column' }), {
  maxItems: 50,
  uniqueItems: true,
  description: 'The columns that are shown, in their order. Empty: the default',
  examples: [['severity', 'title', 'asset']],
});
const Sort = Nullable(Type.String({ pattern: '^-?[a-z_]{1,50}$', description: 'Sort key of the list. `null`: its default', examples: ['-risk_score'] }));
const Position = Type.Integer({ minimum: 0, maximum: 10_000, description: 'Place among the views, in ascending order', examples: [1] });

const example = { list: 'findings', name: 'Fix first', query: 'severity=critical,high&kev=true', sort: '-risk_score' };

export const View = Named('View', {
  id: { ...Id, description: 'Id of the view (UUIDv7)' },
  list: List,
  name: Name,
  query: Query,
  columns: Columns,
  sort: Sort,
  scope: Scope,
  position: Position,
  created_by: Type.String({ description: 'Who created the view', examples: ['Ada Lovelace'] }),
  version: Type.Integer({ minimum: 1, description: 'Increases with each change. Also the ETag' }),
  created_at: { ...Timestamp, description: 'When the view was created' },
  updated_at: { ...Timestamp, description: 'When the view was last changed' },
});
export const ViewList = PageOf('ViewList', View);
export const ViewQuery = Strict({
  ...listParameters(['position', 'created_at'] as const, 'position'),
  list: Type.Optional({ ...List, description: 'Only views of this list' }),
  scope: Type.Optional({ ...Scope, description: 'Only your own views, or only those of the organization. Default: both' }),
});

export const ViewCreate = Named(
  'ViewCreate',
  {
    list: List,
    name: Name,
    query: Query,
    columns: Type.Optional(Columns),
    sort: Type.Optional(Sort),
    scope: Type.Optional({ ...Scope, description: 'Who sees the view: only you (`mine`), or everybody in your organization. Default: `mine`' }),
    position: Type.Optional({ ...Position, description: 'Place among the views. Default: the last' }),
  },
  { examples: [example] },
);

export const ViewPatch = Named(
  'ViewPatch',
  {
    name: Type.Optional(Name),
    query: Type.Optional(Query),
    columns: Type.Optional(Columns),
    sort: Type.Optional(Sort),
    position: Type.Optional(Position),
  },
  { minProperties: 1, examples: [{ name: 'Fix now', position: 0 }] },
);

export const Preferences = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    {
      title: 'Preferences',
      additionalProperties: true,
      description: `Any JSON object of at most ${MOST_PREFERENCE_BYTES.toLocaleString('en')} bytes, such as the theme and the density of lists`,
      examples: [{ theme: 'dark', density: 'compact' }],
    },
  ),
);
