import type { InputOf, ResultOf } from '@rrs/client';

export type OrganizationData = ResultOf<'getOrganization'>;
type Policy = OrganizationData['policy'];
type Patch = NonNullable<InputOf<'updateOrganization'>['body']>;

/** The parts of the policy that are numbers, with what they mean. An empty deadline means that there is none. */
export const numberFields = {
  sla: {
    title: 'Deadlines',
    about: 'Days to remediate a finding, counted from when it was first seen. Empty: no deadline. The shorter one applies to what is known to be exploited.',
    fields: { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', info: 'Info', unknown: 'Unknown severity', kev: 'Known exploited' },
  },
  brake: {
    title: 'Imports that close much',
    about: 'An import or run that would close more than this share of the open findings of its source, and more than this number, waits for a person.',
    fields: { share: 'Share, percent', count: 'Findings' },
  },
  retention: {
    title: 'Retention',
    about: 'Days to keep what grows. Findings, decisions and evidence are always kept.',
    fields: { report_days: 'Report files', run_days: 'Runs of connections', delivery_days: 'Webhook deliveries', event_days: 'Events' },
  },
} as const;

export type NumberPart = keyof typeof numberFields;
/** What the fields of the form contain: `sla.critical`. */
type Numbers = Readonly<Record<string, string>>;

function numbersOf(policy: Policy): Numbers {
  const parts: Record<NumberPart, Record<string, number | null>> = {
    sla: { ...policy.sla },
    brake: { share: Math.round(policy.brake.share * 1000) / 10, count: policy.brake.count },
    retention: { ...policy.retention },
  };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([part, values]) => Object.entries(values).map(([name, value]) => [`${part}.${name}`, value === null ? '' : String(value)])),
  );
}

const asNumber = (text: string | undefined): number | null => (text === undefined || text.trim() === '' ? null : Number(text));

export interface Form {
  name: string;
  numbers: Numbers;
  fourEyes: boolean;
  trackNames: readonly string[];
  trackDays: string;
  ranking: readonly string[];
  frameworks: readonly string[];
}

export function formOf({ name, policy }: OrganizationData): Form {
  return {
    name,
    numbers: numbersOf(policy),
    fourEyes: policy.four_eyes,
    trackNames: policy.track_names,
    trackDays: String(policy.track_days),
    ranking: policy.source_ranking,
    frameworks: policy.frameworks,
  };
}

/** Only what changed is sent, so that people who change different things do not overwrite each other. */
export function patchOf(before: Form, form: Form): Patch {
  const isChanged = (name: keyof Form) => JSON.stringify(before[name]) !== JSON.stringify(form[name]);
  const numbers = (part: NumberPart) => {
    const changed = Object.keys(numberFields[part].fields).filter((name) => before.numbers[`${part}.${name}`] !== form.numbers[`${part}.${name}`]);
    return changed.map((name) => [name, asNumber(form.numbers[`${part}.${name}`])] as const);
  };
  const brake = numbers('brake').map(([name, value]) => [name, name === 'share' && value !== null ? value / 100 : value] as const);
  const policy: NonNullable<Patch['policy']> = {
    ...(numbers('sla').length > 0 ? { sla: Object.fromEntries(numbers('sla')) } : {}),
    ...(brake.length > 0 ? { brake: Object.fromEntries(brake) } : {}),
    ...(numbers('retention').length > 0 ? { retention: Object.fromEntries(numbers('retention')) } : {}),
    ...(isChanged('fourEyes') ? { four_eyes: form.fourEyes } : {}),
    ...(isChanged('trackNames') ? { track_names: [...form.trackNames] } : {}),
    ...(isChanged('trackDays') ? { track_days: asNumber(form.trackDays) } : {}),
    ...(isChanged('ranking') ? { source_ranking: [...form.ranking] } : {}),
    ...(isChanged('frameworks') ? { frameworks: [...form.frameworks] as Policy['frameworks'] } : {}),
  };
  return { ...(isChanged('name') ? { name: form.name } : {}), ...(Object.keys(policy).length > 0 ? { policy } : {}) };
}

/** The own changes on top of what somebody else saved in the meantime. */
export function rebase(before: Form, form: Form, theirs: Form): Form {
  const own = Object.entries(form).filter(([name, value]) => name !== 'numbers' && JSON.stringify(value) !== JSON.stringify(before[name as keyof Form]));
  const ownNumbers = Object.entries(form.numbers).filter(([name, value]) => value !== before.numbers[name]);
  return { ...theirs, ...Object.fromEntries(own), numbers: { ...theirs.numbers, ...Object.fromEntries(ownNumbers) } };
}
