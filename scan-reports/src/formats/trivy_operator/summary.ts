import type { LookedFor, Severity } from '../../contract.ts';
import { severityOf } from '../../shared/normalize.ts';
import { count, type Obj, str } from '../../shared/read.ts';

export type Counts = Partial<Record<Severity, number>>;

/** A report with what it counts. */
interface Counted {
  kind?: string | undefined;
  counts?: Counts | undefined;
}

/** What a report counts, by severity: `criticalCount`, `unknownCount`. */
export function countsOf(summary: Obj): Counts {
  const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
  return Object.fromEntries(severities.map((severity) => [severity, count(summary[`${severity}Count`]) ?? 0]));
}

/** Compares what the reports about vulnerabilities count with what they list. */
export function startListed() {
  const listed = new Map<Counted, Counts>();
  return {
    add(resource: Counted, { severity: word }: Obj): void {
      const counts = listed.get(resource) ?? {};
      const severity = severityOf(str(word));
      listed.set(resource, counts);
      counts[severity] = (counts[severity] ?? 0) + 1;
    },
    /** Severities of which a report lists fewer than it counts. Those that are unknown can be any, so all of packages may be missing. */
    leftOut(resources: Iterable<Counted>): LookedFor[] {
      const missing = [...resources].flatMap((resource) =>
        Object.entries(isAboutVulnerabilities(resource) ? (resource.counts ?? {}) : {}).flatMap(([severity, counted]) =>
          counted > (listed.get(resource)?.[severity as Severity] ?? 0) ? [severity as Severity] : [],
        ),
      );
      return [...new Set(missing)].flatMap((severity): LookedFor[] => (severity === 'unknown' ? ['system_packages', 'libraries'] : [severity]));
    },
  };
}

function isAboutVulnerabilities({ kind }: Counted): boolean {
  return /VulnerabilityReport$/.test(kind ?? '');
}
