import { expect, test } from 'vitest';
import { severityOfRatings } from './cvss.ts';

test.each([
  [[{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }], 'critical'],
  [[{ vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:L' }], 'high'],
  [[{ vector: 'AV:N/AC:L/Au:N/C:P/I:P/A:P' }], 'high'],
  [[{ vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N' }], 'critical'],
  [[{ score: 4 }, { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:L' }], 'high'],
  [[{ vector: 'CVSS:3.1/AV:N', score: 5 }], 'medium'],
  [[{ vector: 'nonsense' }], 'unknown'],
  [[], 'unknown'],
] as const)('severityOfRatings(%j)', (ratings, expected) => {
  expect(severityOfRatings(ratings)).toBe(expected);
});
