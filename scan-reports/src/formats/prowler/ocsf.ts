import { arr, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import type { Check } from './check.ts';

/** Detection findings (class 2004) of version 4 and later, security findings (class 2001) of version 3. */
export function detectionOf(entry: Obj, place: string): Check {
  const finding = obj(entry.finding_info ?? entry.finding);
  const { event_code, product } = obj(entry.metadata);
  const cloud = obj(entry.cloud);
  const resource = obj(arr(entry.resources)[0]);
  const unmapped = obj(entry.unmapped);
  const remediation = obj(entry.remediation ?? finding.remediation);
  const status = str(entry.status);
  return {
    place,
    id: str(event_code) ?? str(obj(obj(product).feature).uid),
    title: str(finding.title),
    message: str(entry.status_detail) ?? str(entry.message),
    status: str(entry.status_code) ?? str(obj(entry.compliance).status) ?? status,
    // Version 4.2 writes the id 3 (suppressed) next to the word "New". The word is correct.
    muted: status === undefined ? entry.status_id === 3 : /^suppressed$/i.test(status),
    severity: str(entry.severity),
    uid: str(finding.uid),
    provider: str(cloud.provider)?.toLowerCase() ?? (cloud.account === undefined && str(resource.namespace) ? 'kubernetes' : undefined),
    account: str(obj(cloud.account).uid) ?? str(cloud.project_uid),
    region: str(resource.region) ?? str(cloud.region) ?? str(resource.namespace),
    resource: str(resource.uid),
    resourceName: str(resource.name),
    description: str(finding.desc),
    risk: str(entry.risk_details) ?? str(obj(finding.supporting_data).Risk),
    solution: str(remediation.desc),
    references: [
      ...strs(unmapped.related_url),
      ...strs(finding.src_url),
      ...strs(remediation.references),
      ...strs(remediation.kb_articles),
      ...strs(unmapped.additional_urls),
    ],
    seen: date(entry.time_dt ?? entry.event_time ?? finding.created_time_dt ?? finding.created_time ?? entry.time),
    tags: [str(obj(resource.group).name), ...strs(unmapped.categories)],
    version: str(obj(product).version),
  };
}
