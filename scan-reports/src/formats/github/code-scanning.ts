import type { Asset, Observation } from '../../contract.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { count, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { alertId, reasonTag, repositoryAsset } from './repository.ts';

function revisionOf(asset: Asset | null, { ref, commit_sha }: Obj): Asset | null {
  const [branch, commit] = [str(ref), str(commit_sha)];
  return asset && { ...asset, ...(branch === undefined ? {} : { ref: branch }), ...(commit === undefined ? {} : { commit }) };
}

/** https://docs.github.com/en/rest/code-scanning/code-scanning */
export function codeScanningAlert(alert: Obj, place: string): Observation {
  const rule = obj(alert.rule);
  const instance = obj(alert.most_recent_instance);
  const location = obj(instance.location);
  const tags = strs(rule.tags);
  const id = required(str(rule.id) ?? str(rule.name), 'rule.id');
  const severity = reasonTag(rule.security_severity_level)[0] ?? str(rule.severity);
  const message = str(obj(instance.message).text);
  const title = str(rule.description) ?? str(rule.name) ?? id;
  return observation({
    place,
    tool: (str(obj(alert.tool).name) ?? 'code scanning').toLowerCase(),
    rule: id,
    external_id: alertId(alert),
    title,
    description: [message, str(rule.full_description)].filter((text) => text !== undefined && text !== title).join('\n\n'),
    solution: str(rule.help),
    severity: severityOf(severity),
    tool_severity: severity,
    vulnerability_ids: idsIn(id, str(rule.name), ...tags),
    cwes: cwesOf(tags.filter((tag) => /cwe/i.test(tag))),
    references: strs(rule.help_uri),
    asset: revisionOf(repositoryAsset(alert), instance),
    location: { path: filePath(str(location.path)), line: count(location.start_line), end_line: count(location.end_line) },
    present: str(alert.state) !== 'fixed',
    suppressed: str(alert.state) === 'dismissed',
    first_seen: date(alert.created_at),
    tags: [...tags.filter((tag) => !/cwe/i.test(tag)), ...reasonTag(alert.dismissed_reason)],
  });
}
