import { humanize } from './numbers.ts';

const DOUBTS = new Map([
  ['identity_weak', 'Host known only by its address'],
  ['time_unstated', 'Time of the scan not stated'],
  ['time_suspect', 'Time of the scan cannot be right'],
  ['credentials_unstated', 'Login not stated'],
  ['knowledge_unstated', 'Date of its rules not stated'],
  ['checks_unstated', 'Checks not listed'],
  ['search_unstated', 'Search known only from the sender'],
  ['part_unstated', 'Scope known only from the sender'],
  ['checks_selected', 'May not include all kinds of checks'],
  ['partially_covered', 'Asset covered only in part'],
  ['track_unstated', 'Release line of the build unknown'],
  ['asset_unspecified', 'Asset not named'],
  ['inventory_only', 'Inventory without vulnerabilities'],
  ['not_read', 'File not read'],
  ['not_credentialed', 'No working credentials'],
  ['knowledge_older', 'Rules older than those of the scan before'],
  ['check_disabled', 'Check not enabled'],
  ['scan_narrower', 'Run may have been restricted'],
  ['records_rejected', 'Records were rejected'],
  ['tool_unstated', 'Tool not named'],
  ['run_failed', 'Run did not succeed'],
]);

export const doubtWords = (code: string): string => DOUBTS.get(code) ?? humanize(code);
