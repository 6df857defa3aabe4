import type { Observation, ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { arr, count, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startList } from '../../shared/run.ts';
import { startMetrics } from './metrics.ts';

export const bandit: ReportFormat = {
  id: 'bandit',
  name: 'Bandit',
  description: 'Output of `bandit -r . -f json`',
  documentation: 'https://bandit.readthedocs.io/en/latest/formatters/json.html',
  expects: 'a JSON object with metrics, generated_at and results, each with test_id, issue_text and filename',
  assetType: 'repository',
  states: ['time'],
  detect,
  async about(input) {
    const { missed, about } = startAbout();
    if (!detect(await headOf(input))) return about();
    for await (const { value } of jsonValues(input, ['errors.*'])) missed(filePath(str(obj(value).filename)));
    return about();
  },
  async *read(input) {
    if (!detect(await headOf(input))) throw notThisFormat(bandit.expects);
    const generated = await generatedAt(input);
    const files = startList();
    const metrics = startMetrics();
    for await (const found of jsonValues(input, ['results.*', 'metrics.*'])) {
      if (found.pattern === 1) {
        // The metrics have one entry per file that was read.
        const file = found.path[1] === '_totals' ? null : filePath(str(found.path[1]));
        if (file !== null) files.add(file);
        metrics.count(obj(found.value), file);
        continue;
      }
      const place = placeOf(found);
      metrics.show(obj(found.value));
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        return issueOf(obj(found.value), place, generated);
      });
    }
    yield* runEntry({ finished_at: generated, files: files.list(), ...metrics.leftOut() });
  },
};

/** The metrics have one entry per file and may fill the whole head. */
function detect(head: ReportHead): boolean {
  if (head.jsonShape !== 'object') return false;
  return (
    (hasKeys(head, 'metrics') && (/"(?:CONFIDENCE|SEVERITY)\.(?:HIGH|LOW)"/.test(head.text) || hasKeys(head, 'generated_at', 'errors'))) ||
    (hasKeys(head, 'results') && /"test_id"\s*:/.test(head.text) && /"issue_text"\s*:/.test(head.text))
  );
}

async function generatedAt(input: ReportInput): Promise<Date | null> {
  for await (const { value } of jsonValues(input, ['generated_at'])) return date(value);
  return null;
}

function issueOf(issue: Obj, place: string, generated: Date | null): Observation {
  const rule = required(str(issue.test_id) ?? str(issue.test_name), 'test_id');
  const text = masked(required(str(issue.issue_text), 'issue_text'));
  const lines = arr(issue.line_range).flatMap((line) => count(line) ?? []);
  const { id, link } = obj(issue.issue_cwe);
  const confidence = str(issue.issue_confidence);
  return observation({
    place,
    tool: 'bandit',
    rule,
    title: text,
    severity: severityOf(str(issue.issue_severity)),
    tool_severity: str(issue.issue_severity),
    cwes: cwesOf(id),
    references: [...strs(issue.more_info), ...strs(link)],
    location: {
      path: filePath(required(str(issue.filename), 'filename')),
      line: count(issue.line_number) ?? lines[0],
      end_line: lines.length > 1 ? Math.max(...lines) : undefined,
      snippet: PASSWORD_TESTS.has(rule) ? undefined : codeIn(str(issue.code), lines),
    },
    last_seen: generated,
    tags: [str(issue.test_name) ?? [], confidence ? `confidence:${confidence.toLowerCase()}` : []].flat(),
  });
}

const PASSWORD_TESTS = new Set(['B105', 'B106', 'B107']);

/** Returns the lines of the issue. The quoted code also has the lines around it, and each line starts with its number. */
function codeIn(code: string | undefined, lines: readonly number[]): string | undefined {
  const quoted = (code ?? '').split('\n').flatMap((line) => {
    const [, number, text] = /^(\d+) (.*)$/.exec(line) ?? [];
    return text !== undefined && lines.includes(Number(number)) ? [text] : [];
  });
  return quoted.length > 0 ? quoted.join('\n') : undefined;
}

/** The password checks (B105 to B107) quote the password, which must not be stored. */
function masked(text: string): string {
  return text.replace(/(hardcoded password: ).*$/is, "$1'***'");
}
