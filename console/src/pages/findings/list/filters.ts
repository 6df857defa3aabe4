import type { Filter } from '../../../lists/filters.ts';

const flag = ['true', 'false'];
const severity = ['critical', 'high', 'medium', 'low', 'info'];
const statuses = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'];
const assetTypes = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'];
const many = { isList: true } as const;

/** The filters of `GET /findings`, by name. None is invented. */
export const findingFilters: readonly Filter[] = [
  { name: 'q', label: 'Text' },
  { name: 'severity', label: 'Severity', options: severity, ...many },
  { name: 'status', label: 'Status', options: statuses, ...many },
  { name: 'kev', label: 'Known to be exploited', options: flag },
  { name: 'overdue', label: 'Overdue', options: flag },
  { name: 'fix_first', label: 'To fix first', options: flag },
  { name: 'has_fix', label: 'Has a fix', options: flag },
  { name: 'has_work_item', label: 'In a work item', options: flag },
  { name: 'assignee', label: 'Work item of', ...many },
  { name: 'asset', label: 'Asset', known: 'asset' },
  { name: 'asset_type', label: 'Asset type', options: assetTypes, ...many },
  { name: 'exposure', label: 'Exposure', options: ['internet', 'internal', 'unknown'], ...many },
  { name: 'criticality', label: 'Criticality', options: ['critical', 'high', 'medium', 'low'], ...many },
  { name: 'owner', label: 'Owner', known: 'owner', ...many },
  { name: 'cve', label: 'Vulnerability', known: 'cve', ...many },
  { name: 'cwe', label: 'CWE', ...many },
  { name: 'component', label: 'Component', known: 'component' },
  { name: 'path', label: 'Path' },
  { name: 'rule', label: 'Rule', ...many },
  { name: 'source', label: 'Source', known: 'source', ...many },
  { name: 'source_kind', label: 'Source kind', options: ['import', 'connection', 'manual'], ...many },
  { name: 'tag', label: 'Tag', known: 'tag', ...many },
  { name: 'asset_tag', label: 'Asset tag', known: 'asset_tag', ...many },
  { name: 'risk_min', label: 'Risk of at least' },
  { name: 'epss_min', label: 'EPSS of at least' },
  { name: 'track', label: 'Track', ...many },
  { name: 'new_since_track', label: 'Not on the track' },
  { name: 'asset_version', label: 'Version of the asset' },
  { name: 'suppressed', label: 'Suppressed', options: flag },
  { name: 'severity_disputed', label: 'Severity disputed', options: flag },
  { name: 'acceptance_requested', label: 'Acceptance requested', options: flag },
  { name: 'assurance', label: 'Assurance', options: ['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent'], ...many },
  { name: 'not_severity', label: 'Severity is not', options: severity, ...many },
  { name: 'not_status', label: 'Status is not', options: statuses, ...many },
  { name: 'not_asset_type', label: 'Asset type is not', options: assetTypes, ...many },
  { name: 'not_source', label: 'Source is not', known: 'source', ...many },
  { name: 'not_cve', label: 'Vulnerability is not', known: 'cve', ...many },
  { name: 'not_component', label: 'Component is not', known: 'component', ...many },
  { name: 'not_path', label: 'Path is not', ...many },
  { name: 'not_rule', label: 'Rule is not', ...many },
  { name: 'not_tag', label: 'Tag is not', known: 'tag', ...many },
  { name: 'not_asset_tag', label: 'Asset tag is not', known: 'asset_tag', ...many },
  { name: 'first_seen_from', label: 'First seen since' },
  { name: 'first_seen_to', label: 'First seen before' },
  { name: 'last_seen_from', label: 'Last seen since' },
  { name: 'last_seen_to', label: 'Last seen before' },
  { name: 'created_from', label: 'Created since' },
  { name: 'created_to', label: 'Created before' },
  { name: 'updated_from', label: 'Changed since' },
  { name: 'updated_to', label: 'Changed before' },
  { name: 'due_from', label: 'Due since' },
  { name: 'due_to', label: 'Due before' },
  { name: 'asset_id', label: 'Asset with the ID' },
  { name: 'connection_id', label: 'Connection with the ID' },
  { name: 'import_id', label: 'Changed by the import' },
  { name: 'work_item_id', label: 'In the work item' },
];

const weekAgo = (): string => new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);

export const findingViews = () => [
  { label: 'Fix first', query: { fix_first: 'true', sort: '-risk_score' } },
  { label: 'Open', query: { status: 'open', sort: '-risk_score' } },
  { label: 'Overdue', query: { overdue: 'true', sort: 'due_at' } },
  { label: 'Exploited', query: { kev: 'true', status: 'open,in_progress', sort: '-risk_score' } },
  { label: 'New this week', query: { first_seen_from: weekAgo(), sort: '-first_seen' } },
  { label: 'To verify', query: { status: 'remediated', sort: '-risk_score' } },
  { label: 'All', query: {} },
];
