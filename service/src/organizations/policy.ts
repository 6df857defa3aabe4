/** What an organization decides about its findings. Only what it decided is stored; the rest is at its default and follows it. */
export interface OrganizationPolicy {
  /** Days to remediate by severity; `null`: no deadline. A known exploited vulnerability has `kev` days at the most. */
  sla: Record<SlaKey, number | null>;
  /** An acceptance needs somebody else's approval than the one's who asks for it. */
  four_eyes: boolean;
  /** A run that would close more than this share of a source's open findings, and more than this many, waits for a person. */
  brake: { share: number; count: number };
}

export const slaKeys = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'] as const;
type SlaKey = (typeof slaKeys)[number];

const defaults: OrganizationPolicy = {
  sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14 },
  four_eyes: false,
  brake: { share: 0.2, count: 50 },
};

export interface StoredPolicy {
  sla?: Partial<OrganizationPolicy['sla']>;
  four_eyes?: boolean;
  brake?: Partial<OrganizationPolicy['brake']>;
}

export function policyOf(stored: unknown): OrganizationPolicy {
  const { sla, four_eyes, brake } = (stored ?? {}) as StoredPolicy;
  return { sla: { ...defaults.sla, ...sla }, four_eyes: four_eyes ?? defaults.four_eyes, brake: { ...defaults.brake, ...brake } };
}

/** A merge patch: null takes a part back to its default. The days of the SLA are an exception, where null is a value. */
export interface PolicyPatch {
  sla?: Partial<OrganizationPolicy['sla']> | null;
  four_eyes?: boolean | null;
  brake?: { share?: number | null; count?: number | null } | null;
}

export function patchPolicy(stored: unknown, patch: PolicyPatch): StoredPolicy {
  const { sla, four_eyes, brake } = (stored ?? {}) as StoredPolicy;
  return withoutNothing({
    sla: patch.sla === null ? undefined : withoutNothing({ ...sla, ...patch.sla }),
    four_eyes: patch.four_eyes === null ? undefined : (patch.four_eyes ?? four_eyes),
    brake:
      patch.brake === null ? undefined : withoutNothing(Object.fromEntries(Object.entries({ ...brake, ...patch.brake }).filter(([, value]) => value !== null))),
  });
}

function withoutNothing<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
