import { ReportError, type ReportFormat, type ReportHead, type ReportItem } from '../../contract.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { record } from '../../shared/normalize.ts';
import { obj, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { aboutRuns } from './about.ts';
import { startBaseline } from './baseline.ts';
import { exportedResult } from './exported.ts';
import { observationsOf } from './result.ts';
import { emptyRun, type Run, readRuns, runKey } from './run.ts';
import { readRunFacts } from './run-facts.ts';

export const sarif: ReportFormat = {
  id: 'sarif',
  name: 'SARIF 2.1.0',
  description: 'Static Analysis Results Interchange Format, written by CodeQL, Semgrep, Snyk Code, ESLint and many other tools',
  documentation: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html',
  expects: 'a JSON object with version "2.1.0" and runs',
  assetType: 'repository',
  detect: (head) => hasKeys(head, 'runs') && (hasKeys(head, 'version') || /sarif|"driver"\s*:\s*\{/i.test(head.text) || hasRuns(head)),
  about: aboutRuns,
  async *read(input) {
    const runs = await readRuns(input);
    if (runs.size === 0 && !hasKeys(await headOf(input), 'runs')) throw notThisFormat(sarif.expects);
    for (const run of runs.values())
      if (run.hasExternalResults) throw new ReportError('The results of a run are in other files (externalPropertyFileReferences). Merge them into one file.');
    yield* readRunFacts([...runs.values()]);
    const baseline = startBaseline(runs);
    let listsSuppressed = false;
    for await (const found of jsonValues(input, ['runs.*.results.*'])) {
      baseline.add(runKey(found), str(obj(found.value).baselineState));
      listsSuppressed ||= 'suppressions' in obj(found.value);
      yield* readResult(found, runs);
    }
    // Section 3.27.23: an empty list of suppressions says that the tool looks for them.
    if (listsSuppressed) yield* runEntry({ looked_for: ['suppressed'] });
    if (baseline.leavesOutKnown()) yield* runEntry({ left_out: ['known'] });
  },
};

/** The version and the tool of a run may come after more results than fit in the head. */
function hasRuns(head: ReportHead): boolean {
  const keys = keysInList(head, 'runs') ?? [];
  return keys.includes('results') || keys.includes('tool');
}

const EMPTY_RUN = emptyRun();

function* readResult(found: JsonValue, runs: ReadonlyMap<string, Run>): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) {
    yield { rejection: { place, reason: found.error } };
    return;
  }
  yield* record(place, () => {
    const [result, run] = [obj(found.value), runs.get(runKey(found)) ?? EMPTY_RUN];
    return exportedResult(result, place, run) ?? observationsOf(result, place, run);
  });
}
