import type { About, ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { arr, type Obj, obj } from '../../shared/read.ts';
import { locationOf } from './location.ts';
import { emptyRun, readRuns, runKey } from './run.ts';

const MOST_PLACES = 10_000;
const EXECUTION = 'runs.*.invocations.*.toolExecutionNotifications.*';
const PARTS = ['runs.*.tool.driver.name', 'runs.*.invocations.*.executionSuccessful', 'runs.*.invocations.*.toolConfigurationNotifications.*', EXECUTION];

/** An error at some file leaves that file out; one without a place, or of the configuration, may leave out anything (section 3.58). */
export async function aboutRuns(input: ReportInput): Promise<About> {
  const tools: string[] = [];
  const { missed, failed, about } = startAbout(tools);
  const places: { run: string; location: Obj }[] = [];
  for await (const found of jsonValues(input, PARTS)) {
    const { value } = found;
    if (found.pattern === 0 && typeof value === 'string') tools.push(value.toLowerCase());
    else if (value === false) failed();
    const { level, locations } = obj(value);
    if (level !== 'error') continue;
    const own = PARTS[found.pattern] === EXECUTION ? arr(locations).map(obj) : [];
    if (own.length === 0 || places.length + own.length > MOST_PLACES) failed();
    else places.push(...own.map((location) => ({ run: runKey(found), location })));
  }
  const runs = places.length === 0 ? null : await readRuns(input);
  for (const { run, location } of places) missed(locationOf(location, runs?.get(run) ?? emptyRun()).path);
  return about();
}
