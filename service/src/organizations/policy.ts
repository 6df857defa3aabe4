import { defaultPolicy, type OrganizationPolicy, type PolicyChange } from './schemas.ts';

export type { OrganizationPolicy } from './schemas.ts';

/** The stored policy holds only what the organization has set. The rest follows the defaults, also when these change. */
interface StoredPolicy {
  sla?: Partial<OrganizationPolicy['sla']>;
  four_eyes?: boolean;
  brake?: Partial<OrganizationPolicy['brake']>;
  track_names?: string[];
  track_days?: number;
  source_ranking?: string[];
  frameworks?: string[];
  retention?: Partial<OrganizationPolicy['retention']>;
}

export function policyOf(stored: unknown): OrganizationPolicy {
  const { sla, four_eyes, brake, track_names, track_days, source_ranking, frameworks, retention } = (stored ?? {}) as StoredPolicy;
  return {
    sla: { ...defaultPolicy.sla, ...sla },
    four_eyes: four_eyes ?? defaultPolicy.four_eyes,
    brake: { ...defaultPolicy.brake, ...brake },
    track_names: track_names ?? defaultPolicy.track_names,
    track_days: track_days ?? defaultPolicy.track_days,
    source_ranking: source_ranking ?? defaultPolicy.source_ranking,
    frameworks: frameworks ?? defaultPolicy.frameworks,
    retention: { ...defaultPolicy.retention, ...retention },
  };
}

/** Applies a merge patch, in which null restores a default. The days of the SLA are an exception: there, null is a value. */
export function patchPolicy(stored: unknown, patch: PolicyChange): StoredPolicy {
  const { sla, four_eyes, brake, track_names, track_days, source_ranking, frameworks, retention } = (stored ?? {}) as StoredPolicy;
  return withoutUndefined({
    sla: patch.sla === null ? undefined : withoutUndefined({ ...sla, ...patch.sla }),
    four_eyes: patch.four_eyes === null ? undefined : (patch.four_eyes ?? four_eyes),
    track_names: patch.track_names === null ? undefined : (patch.track_names ?? track_names),
    track_days: patch.track_days === null ? undefined : (patch.track_days ?? track_days),
    source_ranking: patch.source_ranking === null ? undefined : (patch.source_ranking ?? source_ranking),
    frameworks: patch.frameworks === null ? undefined : (patch.frameworks ?? frameworks),
    brake: patched(brake, patch.brake),
    retention: patched(retention, patch.retention),
  });
}

type Numbers<Value> = Partial<Record<string, Value>>;

function patched(stored: Numbers<number> | undefined, patch: Numbers<number | null> | null | undefined): Record<string, number> | undefined {
  if (patch === null) return undefined;
  return Object.fromEntries(Object.entries({ ...stored, ...patch }).flatMap(([key, value]) => (typeof value === 'number' ? [[key, value]] : [])));
}

function withoutUndefined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
