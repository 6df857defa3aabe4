import type { LookedFor } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';

/** A group of at least this size that is empty in a run with other findings was probably left out by an option of the tool. */
export const NARROW = 10;

function kindLit(kind: LookedFor): RawBuilder<unknown> {
  return sql.lit(kind);
}

/** The kinds of a finding or staged record `x` that tools have options to leave out. `severity` is what the source says. */
export function kindsSql(x: 'f' | 'r', severity: RawBuilder<unknown>): RawBuilder<unknown> {
  const [fixState, location, component] = ['fix_state', 'location', 'component'].map((column) => sql.ref(`${x}.${column}`));
  return sql`array[
    case when ${severity} between 1 and 3 then ${kindLit('up_to_medium')} end,
    case when ${fixState} is distinct from 'available' then ${kindLit('without_fix')} end,
    case when ${location}->>'purl' ~ '^pkg:(deb|rpm|apk|alpm)/' or ${location}->>'ecosystem' in ('deb', 'rpm', 'apk', 'alpm') then ${kindLit('system_packages')}
      when ${component} is not null then ${kindLit('libraries')} when ${location} ? 'path' then ${kindLit('files')} end]`;
}
