import type { About, ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { arr, type Obj, obj } from '../../shared/read.ts';
import { locationOf } from './location.ts';
import { emptyRun, readRuns, runKey } from './run.ts';
import { toolOf } from './tool.ts';

const MAX_LOCATIONS = 10_000;
const EXECUTION = 'runs.*.invocations.*.toolExecutionNotifications.*';
const PARTS = ['runs.*.tool.driver.name', 'runs.*.invocations.*.executionSuccessful', 'runs.*.invocations.*.toolConfigurationNotifications.*', EXECUTION];

/**
 * An error at a file means that the file was not scanned. After a configuration error, or an error without a location, anything may be
 * missing (section 3.58).
 */
export async function aboutRuns(input: ReportInput): Promise<About> {
  const tools: string[] = [];
  const { missed, failed, about } = startAbout(tools);
  const locations: { run: string; location: Obj }[] = [];
  for await (const found of jsonValues(input, PARTS)) {
    const { value } = found;
    if (found.pattern === 0 && typeof value === 'string') tools.push(toolOf(value));
    else if (value === false) failed();
    const notification = obj(value);
    if (notification.level !== 'error') continue;
    const own = PARTS[found.pattern] === EXECUTION ? arr(notification.locations).map(obj) : [];
    if (own.length === 0 || locations.length + own.length > MAX_LOCATIONS) failed();
    else locations.push(...own.map((location) => ({ run: runKey(found), location })));
  }
  const runs = locations.length === 0 ? null : await readRuns(input);
  for (const { run, location } of locations) missed(locationOf(location, runs?.get(run) ?? emptyRun()).path);
  return about();
}
