import type { Observation, ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, RecordError, record } from '../../shared/normalize.ts';
import { type Obj, obj, str } from '../../shared/read.ts';
import { runEntry, startList } from '../../shared/run.ts';
import { aboutRun, resultOf } from './cli.ts';
import { findingOf, vulnerabilityOf } from './platform.ts';

export const semgrep: ReportFormat = {
  id: 'semgrep',
  name: 'Semgrep',
  description: 'Output of `semgrep scan|ci --json`, or findings from the API of the Semgrep AppSec Platform',
  documentation: 'https://semgrep.dev/docs/semgrep-appsec-platform/json-and-sarif',
  expects: 'a JSON object with errors and results, each with check_id, path and extra, or findings or vulns from the Semgrep API',
  assetType: 'repository',
  detect: (head) => head.jsonShape === 'object' && (isCli(head) || isPlatform(head)),
  about: async (input) => (semgrep.detect(await headOf(input)) ? aboutRun(input) : startAbout().about()),
  async *read(input) {
    const head = await headOf(input);
    if (!semgrep.detect(head) && !isEmpty(head)) throw notThisFormat(semgrep.expects);
    const files = startList();
    const rules = startList();
    let version: string | undefined;
    for await (const found of jsonValues(input, [...Object.keys(READERS), 'version', 'paths.scanned.*', 'time.rules.*'])) {
      const [key] = found.path;
      if (key === 'version') version = str(found.value);
      if (key === 'paths') files.add(filePath(str(found.value)));
      // With `--time`, all rules of the run, as ids or as objects.
      if (key === 'time') rules.add(str(found.value) ?? str(obj(found.value).id));
      if (key === 'version' || key === 'paths' || key === 'time') continue;
      const place = placeOf(found);
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        return READERS[`${found.path[0]}.*` as keyof typeof READERS](obj(found.value), place);
      });
    }
    yield* runEntry({ tool_version: version, files: files.list(), checks: rules.list() });
  },
};

const READERS: Readonly<Record<'results.*' | 'findings.*' | 'vulns.*', (entry: Obj, place: string) => Observation>> = {
  'results.*': resultOf,
  'findings.*': findingOf,
  'vulns.*': vulnerabilityOf,
};

/** The lists of errors and scanned paths may come before the results and fill the head. */
function isCli(head: ReportHead): boolean {
  if (hasKeys(head, 'check_type') || hasKeys(head, 'generated_at')) return false;
  if (hasKeys(head, 'results') && /"check_id"\s*:/.test(head.text) && /"extra"\s*:/.test(head.text)) return !/"(?:failed|passed)_checks"\s*:/.test(head.text);
  const errorKeys = keysInList(head, 'errors') ?? [];
  if (['code', 'level', 'type'].every((key) => errorKeys.includes(key))) return true;
  return hasKeys(head, 'errors', 'paths') || (hasKeys(head, 'errors', 'results') && /"results"\s*:\s*\[\s*\]/.test(head.text));
}

function isPlatform(head: ReportHead): boolean {
  return (
    (hasKeys(head, 'findings') && /"(?:match_based_id|syntactic_id|findingPath)"\s*:/.test(head.text)) ||
    (hasKeys(head, 'vulns') && /"(?:matchedDependency|dependencyFileLocation)"\s*:/.test(head.text))
  );
}

function isEmpty(head: ReportHead): boolean {
  return /^\s*\{[^[\]]*"(?:results|findings|vulns)"\s*:\s*\[\s*\][^[\]]*\}\s*$/.test(head.text);
}
