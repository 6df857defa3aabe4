import type { Gap } from '../../../document/evidence.ts';
import { grouped } from './numbers.ts';

export interface GapText {
  label: string;
  /** Without the full stop. */
  what: (gap: Gap) => string;
  why: string;
}

/** `1 finding is open`, `2 findings are open`. */
export const some =
  (one: string, many: string) =>
  ({ about }: Gap): string =>
    about.length === 1 ? `1 ${one}` : `${grouped(about.length)} ${many}`;

/** Adds `: <value>`. A gap on the first page has no names, because users wrote them. */
export const naming =
  (name: string, text: (gap: Gap) => string) =>
  (gap: Gap): string => {
    const value = gap.values[name];
    return value === undefined || value === '' ? text(gap) : `${text(gap)}: ${typeof value === 'number' ? grouped(value) : value}`;
  };

export const always = (text: string) => (): string => text;
/** One wording if the fact is known to be bad, another if it is unknown. */
export const byWeightOf =
  (major: (gap: Gap) => string, otherwise: (gap: Gap) => string) =>
  (gap: Gap): string =>
    gap.weight === 'major' ? major(gap) : otherwise(gap);
export const on = ({ values }: Gap): string => (values.on === undefined ? '' : ` on ${values.on}`);
