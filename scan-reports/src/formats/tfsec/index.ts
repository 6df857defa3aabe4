import type { Observation, ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { count, type Obj, obj, str, strs } from '../../shared/read.ts';

export const tfsec: ReportFormat = {
  id: 'tfsec',
  name: 'tfsec',
  description: 'Output of `tfsec --format json`, all versions',
  documentation: 'https://aquasecurity.github.io/tfsec/',
  expects: 'a JSON object with results, each with rule_id and location',
  assetType: 'repository',
  detect: (head) =>
    isNull(head) || (head.jsonShape === 'object' && hasKeys(head, 'results') && /"rule_id"\s*:/.test(head.text) && /"start_line"\s*:/.test(head.text)),
  async *read(input) {
    const head = await headOf(input);
    if (!tfsec.detect(head) && !isEmpty(head)) throw notThisFormat(tfsec.expects);
    for await (const found of jsonValues(input, ['results.*'])) {
      const place = placeOf(found);
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        return resultOf(obj(found.value), place);
      });
    }
  },
};

/** No other tool writes null for an empty list and no other keys. */
function isNull(head: ReportHead): boolean {
  return /^\s*\{\s*"results"\s*:\s*null\s*\}\s*$/.test(head.text);
}

/** Without results, tfsec writes null or an empty list. */
function isEmpty(head: ReportHead): boolean {
  return /^\s*\{\s*"results"\s*:\s*(?:null|\[\s*\])\s*\}\s*$/.test(head.text);
}

/** Versions before 0.40 have `passed`. Later versions have `status` as a word or as an index into this list. */
const STATUSES = ['failed', 'passed', 'ignored'] as const;

function statusOf(result: Obj): string {
  if (typeof result.status === 'number') return STATUSES[result.status] ?? 'failed';
  return str(result.status)?.toLowerCase() ?? (result.passed === true ? 'passed' : 'failed');
}

function resultOf(result: Obj, place: string): Observation | null {
  const status = statusOf(result);
  if (status === 'passed') return null;
  const rule = required(str(result.rule_id), 'rule_id');
  const location = obj(result.location);
  return observation({
    place,
    tool: 'tfsec',
    rule,
    title: str(result.rule_description) ?? str(result.description) ?? rule,
    description: [str(result.description), str(result.impact)].filter(Boolean).join('\n\n'),
    solution: str(result.resolution),
    severity: severityOf(str(result.severity)),
    tool_severity: str(result.severity),
    references: [...strs(result.links), ...linksIn(str(result.link))],
    location: {
      path: filePath(required(str(location.filename), 'location.filename')),
      line: count(location.start_line),
      end_line: count(location.end_line),
      resource: str(result.resource),
    },
    suppressed: status === 'ignored',
    tags: [str(result.rule_provider) ?? [], str(result.rule_service) ?? [], str(result.long_id) ?? []].flat(),
  });
}

/** Old versions write a sentence: "See https://… for more information." */
function linksIn(text: string | undefined): string[] {
  return text?.match(/https?:\/\/[^\s"<>]+/g) ?? [];
}
