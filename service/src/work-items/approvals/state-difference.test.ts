import { describe, expect, it } from 'vitest';
import { stateDifference } from './state-difference.ts';

const header = (title: string) => JSON.stringify({ type: 'state', title, policy: { four_eyes: true } });
const finding = (id: string, state: string) => JSON.stringify({ finding: { id, state, severity: 'high' } });
const unlinked = (id: string) => JSON.stringify({ unlinked: { id, state: 'open' } });

describe('the difference of two states', () => {
  it.each([
    ['a changed field', [header('a'), finding('1', 'open')], [header('a'), finding('1', 'verified')], 'finding 1: state changed from "open" to "verified"'],
    ['the title', [header('a')], [header('b')], 'work item: title changed from "a" to "b"'],
    ['an added finding', [header('a')], [header('a'), finding('1', 'open')], 'finding 1 is new'],
    [
      'a finding that was removed from the work item',
      [header('a'), finding('1', 'open')],
      [header('a'), unlinked('1')],
      'removed finding 1 is new; finding 1 is no longer there',
    ],
    ['nothing', [header('a'), finding('1', 'open')], [header('a'), finding('1', 'open')], ''],
  ])('names %s', (_, before, after, expected) => expect(stateDifference(before, after)).toBe(expected));

  it('names five changes and counts the others', () => {
    const findings = (state: string) => [1, 2, 3, 4, 5, 6, 7].map((id) => finding(String(id), state));
    const text = stateDifference([header('a'), ...findings('open')], [header('a'), ...findings('verified')]);
    expect(text.split('; ')).toHaveLength(6);
    expect(text).toMatch(/; 2 more changes$/);
  });
});
