import type { About, ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { arr, type Obj, obj } from '../../shared/read.ts';
import { disabledRules, ENABLED } from './disabled-rules.ts';
import { OUTCOMES, startInvocations } from './invocations.ts';
import { locationOf } from './location.ts';
import { emptyRun, readRuns, runKey } from './run.ts';
import { toolOf } from './tool.ts';

const MAX_LOCATIONS = 10_000;
const MAX_CATEGORY = 200;
const EXECUTION = 'runs.*.invocations.*.toolExecutionNotifications.*';
const RESULTS = 'runs.*.results';
const PARTS = [
  'runs.*.tool.driver.name',
  'runs.*.automationDetails.id',
  'runs.*.invocations.*.toolConfigurationNotifications.*',
  EXECUTION,
  RESULTS,
  ...OUTCOMES,
  ...ENABLED,
];
/** Of a longer list of results it is enough to know that it is there. */
const MAX_PART_BYTES = 1024 * 1024;

/**
 * An error at a file means that the file was not scanned. After a configuration error, or an error without a location, anything may be
 * missing (section 3.58).
 */
export async function aboutRuns(input: ReportInput): Promise<About> {
  const tools: string[] = [];
  const { missed, failed, about } = startAbout(tools);
  const locations: { run: string; location: Obj }[] = [];
  const categories = new Set<string>();
  const invocations = startInvocations();
  let hasDisabled = false;
  const [runsFound, withResults] = [new Set<string>(), new Set<string>()];
  for await (const found of jsonValues(input, PARTS, MAX_PART_BYTES)) {
    const { value } = found;
    runsFound.add(runKey(found));
    if (PARTS[found.pattern] === RESULTS) {
      if (found.error || Array.isArray(value)) withResults.add(runKey(found));
      continue;
    }
    if (found.error) failed();
    if (found.pattern === 0 && typeof value === 'string') tools.push(toolOf(value));
    else if (found.pattern === 1 && typeof value === 'string') categories.add(categoryOf(value));
    else if (OUTCOMES.includes(PARTS[found.pattern] ?? '')) invocations.add(found);
    else if (value === false) hasDisabled = true;
    const notification = obj(value);
    if (notification.level !== 'error') continue;
    const own = PARTS[found.pattern] === EXECUTION ? arr(notification.locations).map(obj) : [];
    if (own.length === 0 || locations.length + own.length > MAX_LOCATIONS) failed();
    else locations.push(...own.map((location) => ({ run: runKey(found), location })));
  }
  // Null or nothing instead of a list: the tool did not start, or could not write its results (section 3.14.23).
  if (withResults.size < runsFound.size) failed();
  if (invocations.failed()) failed();
  const runs = locations.length === 0 && !hasDisabled ? null : await readRuns(input);
  const disabled = hasDisabled ? disabledRules(runs?.values() ?? []) : [];
  if (disabled === null) failed();
  const skipped = disabled?.map((rule) => ({ rule, path: null })) ?? [];
  for (const { run, location } of locations) missed(locationOf(location, runs?.get(run) ?? emptyRun()).path);
  const part = [...categories].filter(Boolean).sort().join(' + ');
  return { ...about(), ...(part === '' ? {} : { part }), ...(skipped.length === 0 ? {} : { skipped }) };
}

/** Looks like the time, number or commit of a run. */
const OF_ONE_RUN = /\d{4}-?\d\d-?\d\d|^\d+$|[0-9a-f]{7,}|^$/i;

/** The id of a run ends with what is its own, after the category that it shares with earlier runs: `shop/language:java/2026-11-16` (section 3.17.3). */
function categoryOf(id: string): string {
  const parts = id.slice(0, Math.max(0, id.lastIndexOf('/'))).split('/');
  return parts
    .filter((part) => !OF_ONE_RUN.test(part))
    .join('/')
    .slice(0, MAX_CATEGORY);
}
