import type { JsonValue } from '../../json/extractor.ts';
import { str } from '../../shared/read.ts';

const BREAKS = ['exitSignalName', 'exitSignalNumber', 'processStartFailureMessage'];
export const OUTCOMES = ['executionSuccessful', ...BREAKS].map((field) => `runs.*.invocations.*.${field}`);

/** Tells whether the tool came to its end each time, from the fields of its invocations in any order (section 3.20). */
export function startInvocations() {
  let current = '';
  let succeeded = false;
  let broke = false;
  let hasFailed = false;
  const end = (): void => {
    hasFailed ||= broke && !succeeded;
    succeeded = false;
    broke = false;
  };
  return {
    add({ document, path, value }: JsonValue): void {
      const invocation = [document, ...path.slice(0, -1)].join('.');
      if (invocation !== current) end();
      current = invocation;
      const field = String(path.at(-1));
      if (field === 'executionSuccessful') succeeded = value === true;
      if (value === false || (BREAKS.includes(field) && ![undefined, '0'].includes(str(value)))) broke = true;
    },
    failed(): boolean {
      end();
      return hasFailed;
    },
  };
}
