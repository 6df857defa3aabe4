import type { Filter } from '../../../lists/filters.ts';

const types = [
  'alias',
  'api_key',
  'artifact',
  'asset',
  'connection',
  'evidence_package',
  'finding',
  'import',
  'member',
  'organization',
  'pipeline_trust',
  'session',
  'source',
  'sync_run',
  'upload',
  'view',
  'webhook',
  'work_item',
];

/** The filters of the API. */
export const filters: readonly Filter[] = [
  { name: 'object_type', label: 'Kind of object', options: types },
  { name: 'action', label: 'Action', isList: true },
  { name: 'person_id', label: 'Person' },
  { name: 'actor_id', label: 'Actor' },
  { name: 'object_id', label: 'Object' },
  { name: 'request_id', label: 'Request' },
  { name: 'occurred_from', label: 'From' },
  { name: 'occurred_to', label: 'Until' },
];
