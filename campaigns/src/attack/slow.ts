import pg from 'pg';

const LOOK_MS = 2_000;

/** Waits for a response, and looks what the database does if it does not come soon. */
export async function watched<T>(databaseUrl: string, response: Promise<T>): Promise<{ response: T; ms: number; meanwhile: string }> {
  const started = performance.now();
  let looking: Promise<string> | null = null;
  const timer = setTimeout(() => {
    looking = stateOf(databaseUrl).catch(String);
  }, LOOK_MS);
  try {
    const result = await response;
    const ms = performance.now() - started;
    return { response: result, ms, meanwhile: (await looking) ?? '' };
  } finally {
    clearTimeout(timer);
  }
}

/** Sessions with an open transaction: what they wait for, who blocks them, and how long their transaction and statement have taken. */
async function stateOf(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(`
      select format('%s %s %s, waits for %s %s, blocked by %s, transaction %s, statement %s: %s', pid, application_name, state, wait_event_type, wait_event,
        pg_blocking_pids(pid), clock_timestamp() - xact_start, clock_timestamp() - query_start, regexp_replace(left(query, 200), '\\s+', ' ', 'g')) as line
      from pg_stat_activity where xact_start is not null and pid <> pg_backend_pid() order by xact_start`);
    return `. After two seconds, these transactions were open:${rows.map(({ line }) => `\n    ${line}`).join('') || ' none'}`;
  } finally {
    await client.end();
  }
}
