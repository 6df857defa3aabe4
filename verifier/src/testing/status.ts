import {
  envelopeOf,
  opensshFingerprint,
  PAYLOAD_TYPE,
  type PackageStatus,
  packageStatusStatement,
  preAuthEncoding,
  sha256Hex,
  toHex,
} from '@rrs/evidence-format';
import { buildPackage, testKeys } from './build.ts';
import type { LogParts } from './log.ts';
import { IDS } from './sample.ts';

const ours = await testKeys();

/** The service's statement about the sample package, signed with its package key unless the test says otherwise. */
export async function statusOf(change: Partial<PackageStatus> = {}, { keys = ours, content }: { keys?: typeof ours; content?: string } = {}): Promise<string> {
  const logs: LogParts[] = [];
  const { files } = await buildPackage({ log: (parts) => void logs.push(parts) });
  const status: PackageStatus = {
    package_id: IDS.package,
    epoch: 1,
    sequence: 2,
    status: 'superseded',
    by: IDS.approval,
    reason: 'Package 3 of the same work item replaced it.',
    since: '2026-03-05T00:00:00.000Z',
    as_of: '2026-03-06T00:00:00.000Z',
    log: { size: 7, root: toHex(logs[0]?.root ?? new Uint8Array()) },
    ...change,
  };
  const tagManifest = content ?? sha256Hex(files.get('tagmanifest-sha256.txt') ?? new Uint8Array());
  const statement = packageStatusStatement(tagManifest, status);
  const signature = await keys.package.sign(preAuthEncoding(PAYLOAD_TYPE, statement));
  return JSON.stringify(envelopeOf(statement, { keyId: opensshFingerprint(keys.package.spki), signature }));
}

export const CURRENT: Partial<PackageStatus> = { status: 'ready', by: null, reason: null };
