import type { Observation, Severity } from '../../contract.ts';
import { filePath, observation, required } from '../../shared/normalize.ts';
import { count, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { alertId, reasonTag, repositoryAsset } from './repository.ts';

/** Resolutions that leave the secret in place and accept it. */
const ACCEPTED: readonly (string | undefined)[] = ['false_positive', 'wont_fix', 'used_in_tests'];

/**
 * https://docs.github.com/en/rest/secret-scanning/secret-scanning. By default, the API returns the secret itself. `secret`, comments and
 * other fields that may repeat it are therefore not read.
 */
export function secretScanningAlert(alert: Obj, place: string): Observation {
  const type = required(str(alert.secret_type), 'secret_type');
  const resolved = str(alert.state) === 'resolved';
  const resolution = str(alert.resolution);
  const accepted = resolved && ACCEPTED.includes(resolution);
  const validity = str(alert.validity);
  return observation({
    place,
    tool: 'github secret scanning',
    rule: type,
    external_id: alertId(alert),
    title: str(alert.secret_type_display_name) ?? type,
    description: [validity ? `Validity: ${validity}` : undefined, alert.publicly_leaked === true ? 'Publicly leaked' : undefined].filter(Boolean).join('\n'),
    severity: resolved ? 'info' : severityOfOpen(validity, alert.publicly_leaked === true),
    cwes: [798],
    asset: repositoryAsset(alert),
    location: locationOf(alert),
    present: !resolved || accepted,
    suppressed: accepted,
    first_seen: date(alert.created_at),
    tags: ['secret', ...strs(alert.provider), ...reasonTag(resolution)],
  });
}

/** Secrets in issues and comments have no path. The number of the alert then keeps two of the same type apart. */
function locationOf(alert: Obj) {
  const first = obj(alert.first_location_detected);
  const path = filePath(str(first.path));
  const number = str(alert.number);
  if (path === undefined) return number === undefined ? {} : { resource: `secret scanning alert ${number}` };
  return { path, line: count(first.start_line), end_line: count(first.end_line) };
}

/** Alerts have no severity. A secret that is valid or publicly leaked is worse than one that may be valid. */
function severityOfOpen(validity: string | undefined, leaked: boolean): Severity {
  if (validity === 'inactive') return 'low';
  return validity === 'active' || leaked ? 'critical' : 'high';
}
