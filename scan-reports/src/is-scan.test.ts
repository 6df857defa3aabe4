import { expect, test } from 'vitest';
import { isScan } from './is-scan.ts';

test.each([
  ['trivy', '', true],
  ['sarif', 'codeql', true],
  ['sarif', 'remediation risk service', false],
  ['cyclonedx', 'trivy', true],
  ['cyclonedx', 'remediation risk service', false],
  ['rrs_csv', '', false],
  ['rrs_ndjson', '', false],
  ['openvex', 'acme', false],
])('%s of the tool "%s": %s', (provider, tool, expected) => {
  expect(isScan({ provider, tool })).toBe(expected);
});
