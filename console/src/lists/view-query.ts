import type { View } from '@rrs/client';
import { parseQuery, type Query } from './query.ts';

/** The query that a saved view opens. */
export const queryOf = ({ query, sort }: View): Query => ({ ...parseQuery(query), ...(sort === null ? {} : { sort }) });
