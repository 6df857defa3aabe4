import { date, type Obj, obj, str, strs } from '../../shared/read.ts';
import type { Check } from './check.ts';

/** Version 3. */
export function jsonCheckOf(entry: Obj, place: string): Check {
  const { Recommendation } = obj(entry.Remediation);
  return {
    place,
    id: str(entry.CheckID),
    title: str(entry.CheckTitle),
    message: str(entry.StatusExtended),
    status: str(entry.Status),
    severity: str(entry.Severity),
    uid: str(entry.FindingUniqueId),
    provider: str(entry.Provider)?.toLowerCase(),
    account: str(entry.AccountId) ?? str(entry.Subscription) ?? str(entry.ProjectId),
    region: str(entry.Region) ?? str(entry.Location),
    resource: str(entry.ResourceArn) ?? str(entry.ResourceId),
    resourceName: str(entry.ResourceName),
    description: str(entry.Description),
    risk: str(entry.Risk),
    solution: str(obj(Recommendation).Text),
    references: [str(entry.RelatedUrl), str(obj(Recommendation).Url)],
    seen: date(entry.AssessmentStartTime),
    tags: [str(entry.ServiceName), ...strs(entry.Categories)],
  };
}

/** Version 2. */
export function oldJsonCheckOf(entry: Obj, place: string): Check {
  return {
    place,
    ...checkIn(str(entry.Control), str(entry['Control ID'])),
    message: str(entry.Message),
    status: str(entry.Status),
    severity: str(entry.Severity),
    provider: 'aws',
    account: str(entry['Account Number']),
    region: str(entry.Region),
    resource: str(entry['Resource ID']),
    risk: str(entry.Risk),
    solution: str(entry.Remediation),
    references: [str(entry['Doc link'])],
    seen: date(entry.Timestamp),
    tags: [str(entry.Service), str(entry['CAF Epic'])],
  };
}

/** Splits "[check11] Avoid the use of the root account" into id and title. The separate number depends on the edition of the CIS benchmark. */
export function checkIn(text: string | undefined, number: string | undefined): { id: string | undefined; title: string | undefined } {
  const [, id, title] = /^\[([^\]]+)\]\s*(\S.*)?$/s.exec(text ?? '') ?? [];
  return { id: id ?? number, title: title || text };
}
