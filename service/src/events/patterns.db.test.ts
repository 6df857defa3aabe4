import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { useQueue } from '../testing/jobs.ts';
import { matches, matchesSql } from './patterns.ts';

const { db } = useQueue();

const cases: [string[], string, boolean][] = [
  [['*'], 'finding.created', true],
  [['finding.created'], 'finding.created', true],
  [['finding.created'], 'finding.created_again', false],
  [['finding.*'], 'finding.created', true],
  [['finding.*'], 'finding.status.changed', true],
  [['finding.*'], 'finding', false],
  [['finding.*'], 'findings.created', false],
  [['work_item.*'], 'workxitem.created', false],
  [['api_key.created', 'member.*'], 'member.added', true],
  [['api_key.created', 'member.*'], 'api_key.revoked', false],
];

describe('an event pattern', () => {
  it.each(cases)('%j matches %s: %s, in JavaScript and in SQL', async (patterns, type, expected) => {
    expect(matches(patterns, type)).toBe(expected);
    const { rows } = await db().withSystem((tx) =>
      sql<{ found: boolean }>`select ${matchesSql(sql`${patterns}::text[]`, sql`${type}::text`)} as found`.execute(tx),
    );
    expect(rows).toEqual([{ found: expected }]);
  });
});
