import type { Asset } from '@rrs/scan-reports';
import { hostAsset } from '@rrs/scan-reports/normalize.ts';
import { type Obj, str } from '@rrs/scan-reports/read.ts';
import { caseless } from './vulnerability.ts';

/** A device with its readable name. Only its id is permanent. */
export function machineAsset(id: string, machine: Obj): Asset {
  const host = hostAsset({ given: str(machine.computerdnsname) ?? id, ip: str(machine.lastipaddress) });
  const cloudId = str(caseless(machine.vmmetadata).resourceid);
  return {
    ...host,
    identifiers: [{ kind: 'agent_id', value: id }, ...(host.identifiers ?? []), ...(cloudId ? [{ kind: 'cloud_id' as const, value: cloudId }] : [])],
  };
}

/** The state of a device that no longer reports is unknown. Its findings disappear after a while without being fixed. */
export function isReporting(machine: Obj): boolean {
  return str(machine.healthstatus) === 'Active' && (str(machine.onboardingstatus) ?? 'Onboarded') === 'Onboarded';
}
