import type { Observation, ReportFormat } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { count, type Obj, obj, str } from '../../shared/read.ts';

export const hadolint: ReportFormat = {
  id: 'hadolint',
  name: 'Hadolint',
  description: 'Output of `hadolint --format json`',
  documentation: 'https://github.com/hadolint/hadolint',
  expects: 'a JSON array of objects with code, level, message, file and line',
  assetType: 'repository',
  // ShellCheck's JSON has the same keys and also endLine.
  detect: (head) => head.jsonShape === 'array' && hasKeys(head, 'code', 'level', 'message', 'file', 'line') && !head.jsonKeys.includes('endLine'),
  async *read(input) {
    const head = await headOf(input);
    if (!hadolint.detect(head) && !/^\s*\[\s*\]\s*$/.test(head.text)) throw notThisFormat(hadolint.expects);
    for await (const found of jsonValues(input, ['*'])) {
      const place = placeOf(found);
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        return violationOf(obj(found.value), place);
      });
    }
  },
};

function violationOf(violation: Obj, place: string): Observation {
  const code = required(str(violation.code), 'code');
  const message = required(str(violation.message), 'message');
  const file = str(violation.file);
  return observation({
    place,
    tool: 'hadolint',
    rule: code,
    title: message,
    severity: severityOf(str(violation.level)),
    tool_severity: str(violation.level),
    // "-" means standard input.
    location: { path: file === '-' ? undefined : filePath(file), line: count(violation.line) },
  });
}
