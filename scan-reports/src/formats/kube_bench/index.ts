import type { Observation, ReportFormat, ReportHead, ReportInput, ReportItem, Severity } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { observation, RecordError, record, required } from '../../shared/normalize.ts';
import { type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startList } from '../../shared/run.ts';

/** Controls are under "Controls", in a plain list (older versions) or separate documents (oldest versions). */
const PREFIXES = ['Controls.*.', '*.', ''];

export const kubeBench: ReportFormat = {
  id: 'kube_bench',
  name: 'kube-bench',
  description: 'Output of `kube-bench run --json`: the CIS Kubernetes benchmark on one node',
  documentation: 'https://github.com/aquasecurity/kube-bench/blob/main/docs/running.md',
  expects: 'a JSON object with Controls and Totals, or controls with node_type and tests',
  assetType: 'host',
  states: ['checks'],
  detect: (head) => (hasKeys(head, 'Controls') && (hasKeys(head, 'Totals') || /"node_type"\s*:/.test(head.text))) || hasKeys(head, 'node_type', 'tests'),
  async *read(input) {
    const head = await headOf(input);
    if (!isReport(head)) throw notThisFormat(kubeBench.expects);
    const contexts = await readContexts(input);
    const patterns = PREFIXES.map((prefix) => `${prefix}tests.*.results.*`);
    // The report lists every test of the run, whatever its result.
    const checks = startList();
    for await (const found of jsonValues(input, patterns)) {
      checks.add(str(obj(found.value).test_number));
      yield* readResult(found, contexts);
    }
    yield* runEntry({ checks: checks.list() });
  },
};

function isReport(head: ReportHead): boolean {
  return hasKeys(head, 'Controls') || hasKeys(head, 'tests') || hasKeys(head, 'node_type') || /^\s*(?:\[\s*\]|null)\s*$/.test(head.text);
}

type Contexts = ReadonlyMap<string, Obj>;

function keyOf(document: number, path: readonly (string | number)[]): string {
  return `${document} ${path.join('.')}`;
}

/** Reads controls and groups in a first pass, because their fields may come after their results. */
async function readContexts(input: ReportInput): Promise<Contexts> {
  const contexts = new Map<string, Record<string, unknown>>();
  const fields = ['version', 'text', 'node_type', 'tests.*.desc'];
  const patterns = PREFIXES.flatMap((prefix) => fields.map((field) => `${prefix}${field}`));
  for await (const { document, path, value } of jsonValues(input, patterns)) {
    const key = keyOf(document, path.slice(0, -1));
    contexts.set(key, { ...contexts.get(key), [String(path.at(-1))]: value });
  }
  return contexts;
}

function* readResult(found: JsonValue, contexts: Contexts): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) {
    yield { rejection: { place, reason: found.error } };
    return;
  }
  const group = contexts.get(keyOf(found.document, found.path.slice(0, -2))) ?? {};
  const control = contexts.get(keyOf(found.document, found.path.slice(0, -4))) ?? {};
  yield* record(place, () => resultOf(obj(found.value), place, control, group));
}

const STATES: readonly (string | undefined)[] = ['PASS', 'FAIL', 'WARN', 'INFO'];

/** WARN asks for a manual check. Tests marked as manual always report it, so it is not a finding for them. */
function severityOfState(status: string | undefined, type: string | undefined): Severity | null {
  if (!STATES.includes(status)) throw new RecordError('status must be PASS, FAIL, WARN or INFO');
  if (status === 'FAIL') return 'medium';
  return status === 'WARN' && type !== 'manual' ? 'info' : null;
}

/** `actual_value` is not read. It is command output of the node and may contain secrets from command lines and files. */
function resultOf(result: Obj, place: string, control: Obj, group: Obj): Observation | null {
  const number = required(str(result.test_number), 'test_number');
  const status = str(result.status);
  const severity = severityOfState(status, str(result.type));
  if (severity === null) return null;
  const version = str(control.version);
  const expected = str(result.expected_result);
  return observation({
    place,
    tool: 'kube-bench',
    rule: number,
    title: str(result.test_desc) ?? `Test ${number}`,
    description: [str(control.text), str(group.desc), expected ? `Expected: ${expected}` : undefined].filter(Boolean).join('\n\n'),
    solution: str(result.remediation) ?? strs(result.test_info).join('\n'),
    severity,
    tool_severity: status,
    tags: [...strs(control.node_type), ...(version ? [`benchmark ${version}`] : []), ...(result.scored === true ? ['scored'] : [])],
  });
}
