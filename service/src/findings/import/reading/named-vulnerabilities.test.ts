import type { ReportInput } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { namedVulnerabilities } from './named-vulnerabilities.ts';

const inputOf = (...chunks: string[]): ReportInput => ({
  filename: null,
  async *open() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  },
});

it('finds each vulnerability once, also one that is split between two chunks', async () => {
  const report = `{"matches":[{"id":"CVE-2025-10001"},{"id":"CVE-2025-10001"},{"alias":"GHSA-jfh8-c2jp-5v3q"},${' '.repeat(200)}{"id":"CVE-2025-1`;
  const expected = ['CVE-2025-10001', 'CVE-2025-10002', 'GHSA-jfh8-c2jp-5v3q'];
  const whole = `${report}0002"},{"id":"CVE-20`;
  expect(await namedVulnerabilities(inputOf(whole))).toEqual(expected);
  for (let at = 1; at < whole.length; at++) expect(await namedVulnerabilities(inputOf(whole.slice(0, at), whole.slice(at)))).toEqual(expected);
});

it('keeps what it found before the file turned out to be damaged', async () => {
  const input: ReportInput = {
    filename: null,
    async *open() {
      yield Buffer.from(`CVE-2025-10001 ${' '.repeat(100)}`);
      throw new Error('damaged');
    },
  };
  expect(await namedVulnerabilities(input)).toEqual(['CVE-2025-10001']);
});
