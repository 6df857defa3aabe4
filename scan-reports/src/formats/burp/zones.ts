/**
 * Hours that abbreviations of time zones are ahead of UTC, as Java and Unix write them: the least and the most if several zones share one. A report with another
 * abbreviation may come from anywhere.
 */
const HOURS: Readonly<Record<string, number | readonly [number, number]>> = {
  ...{ UTC: 0, GMT: 0, Z: 0, WET: 0, WEST: 1, CET: 1, CEST: 2, MET: 1, MEST: 2, EET: 2, EEST: 3, MSK: 3, TRT: 3, SAST: 2, CAT: 2, EAT: 3, WAT: 1, IDT: 3 },
  ...{ PKT: 5, NPT: 5.75, ICT: 7, WIB: 7, WITA: 8, WIT: 9, HKT: 8, SGT: 8, MYT: 8, PHT: 8, JST: 9, KST: 9 },
  ...{ AWST: 8, ACST: 9.5, ACDT: 10.5, AEST: 10, AEDT: 11, NZST: 12, NZDT: 13, NST: -3.5, NDT: -2.5, BRT: -3, ART: -3 },
  ...{ EST: -5, EDT: -4, MST: -7, MDT: -6, PDT: -7, AKST: -9, AKDT: -8, HST: -10 },
  ...{ BST: [1, 6], IST: [1, 5.5], CST: [-6, 8], CDT: [-5, -4], PST: [-8, 8], AST: [-4, 3], ADT: [-3, 4], GST: [-2, 4] },
};
const ANYWHERE = [-12, 14] as const;
const MS_PER_HOUR = 3_600_000;

/** Hours that a zone is ahead of UTC, at least and at most. `zone` is an abbreviation or an offset: `CEST`, `+0530`, `GMT+03:00`. */
function hoursOf(zone: string): readonly [number, number] {
  const [, sign, hours, minutes = '0'] = /^(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?$/.exec(zone) ?? [];
  const offset = (Number(hours) + Number(minutes) / 60) * (sign === '-' ? -1 : 1);
  const known = hours === undefined ? (HOURS[zone] ?? ANYWHERE) : offset;
  return typeof known === 'number' ? [known, known] : known;
}

/** The earliest and the latest moment that a local time can be. `local` is that time as if it were in UTC. */
export function momentsOf(local: Date, zone: string): { earliest: Date; latest: Date } {
  const [least, most] = hoursOf(zone);
  return { earliest: new Date(local.getTime() - most * MS_PER_HOUR), latest: new Date(local.getTime() - least * MS_PER_HOUR) };
}
