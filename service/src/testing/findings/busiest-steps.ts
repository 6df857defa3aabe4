import pg from 'pg';
import { afterAll, expect, vi } from 'vitest';
import type { Engine } from './imports.ts';

interface Plan {
  'Node Type': string;
  'Subplan Name'?: string;
  Alias?: string;
  'Join Filter'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Plan[];
}

/** The server tells every connection how each of its statements ran. */
const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_level': 'notice',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
};

interface Step {
  rows: number;
  step: string;
}

/** The step of a plan that looked at more rows than the others. */
function busiestStep({ Plans = [], ...own }: Plan): Step {
  const each = own['Actual Rows'] + (own['Rows Removed by Filter'] ?? 0) + (own['Rows Removed by Join Filter'] ?? 0);
  const { 'Node Type': kind, 'Subplan Name': part = '', Alias: alias = '', 'Join Filter': filter = '' } = own;
  const steps = [{ rows: each * own['Actual Loops'], step: [kind, part, alias, filter].join(' ') }, ...Plans.map(busiestStep)];
  return steps.reduce((most, one) => (one.rows > most.rows ? one : most));
}

/** Watches how many rows the steps of statements look at, in all connections of a test file. */
export function watchSteps() {
  const emit = vi.spyOn(pg.Client.prototype, 'emit');
  afterAll(() => emit.mockRestore());

  const busiestSteps = (): (Step & { statement: string })[] => {
    // The server has other notices, too.
    const plans = emit.mock.calls.flatMap(([event, notice]) => (event === 'notice' ? (/plan:\s+(\{.*\})/s.exec(notice.message)?.[1] ?? []) : []));
    return plans.map((text) => {
      const { 'Query Text': statement, Plan: plan } = JSON.parse(text);
      return { ...busiestStep(plan), statement: statement.replace(/\s+/g, ' ').trim() };
    });
  };

  return {
    /** Call it before the engine connects: the settings are those of connections that are made later. */
    async explain(engine: Engine, settings: Record<string, string> = {}): Promise<void> {
      const { rows } = await engine.admin().query('select quote_ident(current_database()) as name');
      for (const [name, value] of Object.entries({ ...EXPLAINED, ...settings }))
        await engine.admin().query(`alter database ${rows[0].name} set ${name} = '${value}'`);
    },
    forget: () => emit.mockClear(),
    /** `statements` tells how many were watched at least, so that the test cannot pass without any. */
    expectAtMost({ rows: most, statements }: { rows: number; statements: number }): void {
      const busiest = busiestSteps().sort((one, other) => other.rows - one.rows);
      expect(busiest.length).toBeGreaterThan(statements);
      expect(busiest.filter(({ rows }) => rows > most)).toEqual([]);
    },
  };
}
