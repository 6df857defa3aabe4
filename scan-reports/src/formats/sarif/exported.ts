import type { Observation } from '../../contract.ts';
import { EXPORTER, exportedObservations } from '../../shared/exported.ts';
import { isObj, type Obj, obj, str } from '../../shared/read.ts';
import type { Run } from './run.ts';

/** A finding that this service exported. Its property bag has the asset and the location, which SARIF cannot express. Null for any other result. */
export function exportedResult(result: Obj, place: string, run: Run): Observation[] | null {
  const { properties, message, provenance } = result;
  const own = obj(properties);
  if (run.driver.name?.toLowerCase() !== EXPORTER || str(own.weakness) === undefined || !isObj(own.location)) return null;
  const { firstDetectionTimeUtc, lastDetectionTimeUtc } = obj(provenance);
  return exportedObservations({ ...own, title: obj(message).text, first_seen: firstDetectionTimeUtc, last_seen: lastDetectionTimeUtc }, place);
}
