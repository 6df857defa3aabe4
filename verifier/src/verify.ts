import { type Evidence, ed25519RawFromSpki, opensshFingerprint, toBase64, vkey } from '@rrs/evidence-format';
import { type OpenedPackage, readPackage } from './archive/read-package.ts';
import type { Source } from './archive/source.ts';
import { checkAuditTrail } from './checks/audit-trail.ts';
import { checkContent } from './checks/content.ts';
import type { CheckContext } from './checks/context.ts';
import { checkEvidence } from './checks/evidence.ts';
import { checkHistory } from './checks/history.ts';
import { checkLog, type LogState } from './checks/log.ts';
import { checkEpoch } from './checks/log-statements/epoch.ts';
import { checkStatus } from './checks/log-statements/status.ts';
import { followSuccession } from './checks/log-statements/succession.ts';
import { checkWitnesses } from './checks/log-statements/witnesses.ts';
import { checkOwner } from './checks/owner.ts';
import { type Bundle, PROOF, readProof, SUCCESSION } from './checks/proof-files.ts';
import { checkPredicate, checkSignature, type Signed } from './checks/signature.ts';
import { checkTimes } from './checks/times.ts';
import { checkTime } from './checks/timestamps.ts';
import type { Platform } from './platform.ts';
import { CheckingStopped, createRecorder, type PackageSummary, type Report, type StatusResult, type WitnessSummary } from './report.ts';
import { takenOnTrust } from './taken-on-trust.ts';
import { type ParsedTrust, parseTrust, type Trust } from './trust/trust.ts';

export interface VerifyOptions {
  /** In milliseconds. Checking that takes longer is a failure. Default: no limit. */
  timeLimit?: number;
  /** Current time in milliseconds since 1970. Default: the clock of this machine. */
  now?: number;
}

/**
 * Verifies a package with the keys that the caller trusts. Reads nothing but the source. It fails closed: an exception or a limit that is
 * reached is a failure, and a layer that no check marked as passed does not count as passed.
 */
export async function verifyPackage(source: Source, trust: Trust, platform: Platform, options: VerifyOptions = {}): Promise<Report> {
  const recorder = createRecorder(options.timeLimit);
  const found = await untilStopped(() => recorder.guard('archive', '', () => check(source, trust, { platform, recorder, now: options.now ?? Date.now() })));
  const summary = found?.summary ?? null;
  const layers = recorder.layers();
  const proven = layers.every(({ name, result }) => result === 'pass' || (name === 'time' && result === 'not_present'));
  const verdict = recorder.failures.length > 0 || layers.some(({ result }) => result === 'fail') ? 'failed' : proven ? 'verified' : 'consistent';
  return {
    owner: summary === null ? null : { organization: summary.organization, origin: summary.log?.origin ?? '', expected: isExpected(trust) },
    verdict,
    failures: recorder.failures,
    layers,
    package: summary,
    status: found?.status ?? null,
    notes: recorder.notes,
    taken_on_trust: takenOnTrust({
      stamped: summary?.timestamps.some(({ trusted }) => trusted) ?? false,
      compared:
        (trust.checkpoints.length > 0 || (summary?.witnesses.some(({ trusted }) => trusted) ?? false)) &&
        layers.some(({ name, result }) => name === 'history' && result === 'pass'),
    }),
  };
}

function isExpected({ organization, origin }: Trust): boolean {
  return organization !== null || origin !== null;
}

async function untilStopped<T>(check: () => Promise<T>): Promise<T | null> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof CheckingStopped) return null;
    throw error;
  }
}

interface Found {
  summary: PackageSummary;
  status: StatusResult | null;
}

/** Nothing in data/ is parsed before its hash and the signature over the hash are checked. */
async function check(source: Source, trust: Trust, { platform, recorder, now }: Pick<CheckContext, 'platform' | 'recorder' | 'now'>): Promise<Found | null> {
  const parsed = await recorder.guard('untrusted_key', '', () => readTrust(trust));
  const opened = await readPackage(source, platform, recorder);
  if (opened === null || parsed === null) return null;
  await recorder.guard('manifest', '', () => checkContent(opened, recorder));
  const given = { opened, trust: parsed, platform, recorder, now };
  const context = (await recorder.guard('succession', SUCCESSION, () => followSuccession(given))) ?? given;
  const bundle = await readProof(opened, recorder);
  const signed = bundle === null ? null : await recorder.guard('signature', PROOF.bundle, () => checkSignature(context, bundle));
  if (bundle === null || signed === null) {
    recorder.note('The proof could not be read, so the content, the log and the time were not checked.');
    return null;
  }
  const evidence = await checkSigned(context, signed);
  const proof = await checkProof(context, { bundle, evidence, key: signed.key });
  return evidence === null ? null : { summary: summarize(opened, evidence, proof), status: proof.status };
}

async function checkSigned(context: CheckContext, { statement }: Signed): Promise<Evidence | null> {
  const { opened, recorder } = context;
  if (recorder.failed('signature')) {
    recorder.note('The content of data/ was not read, because no valid signature covers it.');
    return null;
  }
  const evidence = await checkEvidence(opened, recorder);
  if (evidence === null) return null;
  if (statement !== null) checkPredicate(context, statement, evidence);
  await checkAuditTrail(context, evidence);
  return evidence;
}

function readTrust(trust: Trust): ParsedTrust {
  try {
    return parseTrust(trust);
  } catch (error) {
    throw new Error(`One of your trusted keys or certificates cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

interface Proof {
  key: Uint8Array | null;
  log: LogState | null;
  timestamps: PackageSummary['timestamps'];
  status: StatusResult | null;
  witnesses: WitnessSummary[];
}

async function checkProof(context: CheckContext, { bundle, evidence, key }: { bundle: Bundle; evidence: Evidence | null; key: Proof['key'] }): Promise<Proof> {
  const { recorder } = context;
  const log = await recorder.guard('inclusion', PROOF.bundle, () => checkLog(context, bundle, { evidence, key }));
  if (log !== null && evidence !== null) checkOwner(context, evidence, log.origin);
  if (log !== null) {
    const epoch = await recorder.guard('epoch', PROOF.epoch, () => checkEpoch(context, { log, bundle, evidence }));
    await recorder.guard('consistency', PROOF.consistency, () => checkHistory(context, log, epoch));
  }
  const witnesses = log === null || evidence === null ? [] : await checkConfirmed(context, log, evidence);
  const status = log === null || evidence === null ? null : await recorder.guard('status', '', () => checkStatus(context, { evidence, log }));
  const timestamps = (await recorder.guard('timestamp', PROOF.bundle, () => checkTime(context, bundle, evidence))) ?? [];
  if (evidence !== null)
    checkTimes(context, { generatedAt: evidence.generated_at, timestamps, bundle, keys: { package: key, log: log?.logKey, note: log?.noteKey } });
  return { key, log, timestamps, status, witnesses };
}

async function checkConfirmed(context: CheckContext, { checkpoint }: LogState, { generated_at }: Evidence): Promise<WitnessSummary[]> {
  const { recorder, trust } = context;
  const witnesses = (checkpoint && (await recorder.guard('cosignature', PROOF.tlogProof, () => checkWitnesses(context, checkpoint, generated_at)))) ?? [];
  if (trust.witnessKeys.length > 0 && !witnesses.some(({ trusted }) => trusted))
    recorder.setLayer('history', 'not_checked', 'none of the witnesses that you trust confirmed the checkpoint');
  return witnesses;
}

function summarize({ files, bytes }: OpenedPackage, evidence: Evidence, { key, log, timestamps, witnesses }: Proof): PackageSummary {
  return {
    id: evidence.package_id,
    organization: evidence.organization,
    work_item: { id: evidence.work_item.id, title: evidence.work_item.title },
    sequence: evidence.sequence,
    conclusion: evidence.conclusion.status,
    reasons: evidence.conclusion.reasons,
    grade: evidence.completeness.grade,
    gaps: evidence.completeness.gaps.map(({ code, weight, what }) => ({ code, weight, what })),
    generated_at: evidence.generated_at,
    supersedes: evidence.supersedes,
    files: files.size,
    bytes,
    timestamps,
    log: log === null ? null : { origin: log.origin, index: log.index, size: log.size, root: toBase64(log.root) },
    witnesses,
    keys: {
      package: key === null ? null : opensshFingerprint(key),
      log: log?.logKey ? opensshFingerprint(log.logKey) : null,
      note: log?.noteKey ? vkey(log.origin, ed25519RawFromSpki(log.noteKey)) : null,
    },
  };
}
