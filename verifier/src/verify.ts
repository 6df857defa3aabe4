import { type Evidence, ed25519RawFromSpki, opensshFingerprint, toBase64, vkey } from '@rrs/evidence-format';
import { type OpenedPackage, readPackage } from './archive/read-package.ts';
import type { Source } from './archive/source.ts';
import { checkContent } from './checks/content.ts';
import type { CheckContext } from './checks/context.ts';
import { checkEpoch } from './checks/epoch.ts';
import { checkAuditTrail, checkEvidence } from './checks/evidence.ts';
import { checkHistory } from './checks/history.ts';
import { checkLog, type LogState } from './checks/log.ts';
import { PROOF, readProof, SUCCESSION } from './checks/proof-files.ts';
import { checkSignature } from './checks/signature.ts';
import { followSuccession } from './checks/succession.ts';
import { checkTime } from './checks/timestamps.ts';
import type { Platform } from './platform.ts';
import { createRecorder, type PackageSummary, type Recorder, type Report } from './report.ts';
import { type ParsedTrust, parseTrust, type Trust } from './trust/trust.ts';

/**
 * Verifies a package with the keys that the caller trusts. Reads nothing but the source. It fails closed: an exception is a failure, and a
 * layer that no check marked as passed does not count as passed.
 */
export async function verifyPackage(source: Source, trust: Trust, platform: Platform): Promise<Report> {
  const recorder = createRecorder();
  const summary = await recorder.guard('archive', '', () => check(source, trust, { platform, recorder }));
  const layers = recorder.layers();
  const proven = layers.every(({ name, result }) => result === 'pass' || (name === 'time' && result === 'not_present'));
  const verdict = recorder.failures.length > 0 || layers.some(({ result }) => result === 'fail') ? 'failed' : proven ? 'verified' : 'consistent';
  return { verdict, failures: recorder.failures, layers, package: summary, notes: recorder.notes };
}

async function check(source: Source, trust: Trust, { platform, recorder }: { platform: Platform; recorder: Recorder }): Promise<PackageSummary | null> {
  const parsed = await recorder.guard('untrusted_key', '', () => readTrust(trust));
  const opened = await readPackage(source, platform, recorder);
  if (opened === null || parsed === null) return null;
  await recorder.guard('manifest', '', () => checkContent(opened, recorder));
  const evidence = await checkEvidence(opened, recorder);
  if (evidence !== null) await checkAuditTrail(opened, evidence, recorder);
  const proof = await checkProof({ opened, trust: parsed, platform, recorder }, evidence);
  return evidence === null ? null : summarize(opened, evidence, proof);
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
}

async function checkProof(given: CheckContext, evidence: Evidence | null): Promise<Proof> {
  const { opened, recorder } = given;
  const bundle = await readProof(opened, recorder);
  if (bundle === null) {
    recorder.note('The proof could not be read, so the signature, the log and the time were not checked.');
    return { key: null, log: null, timestamps: [] };
  }
  const context = (await recorder.guard('succession', SUCCESSION, () => followSuccession(given))) ?? given;
  const key = await recorder.guard('signature', PROOF.bundle, () => checkSignature(context, bundle, evidence));
  const log = await recorder.guard('inclusion', PROOF.bundle, () => checkLog(context, bundle, { evidence, key }));
  if (log !== null) {
    const epoch = await recorder.guard('epoch', PROOF.epoch, () => checkEpoch(context, { log, bundle, evidence }));
    await recorder.guard('consistency', PROOF.consistency, () => checkHistory(context, log, epoch));
  }
  const timestamps = (await recorder.guard('timestamp', PROOF.bundle, () => checkTime(context, bundle, evidence))) ?? [];
  return { key, log, timestamps };
}

function summarize({ files, bytes }: OpenedPackage, evidence: Evidence, { key, log, timestamps }: Proof): PackageSummary {
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
    keys: {
      package: key === null ? null : opensshFingerprint(key),
      log: log?.logKey ? opensshFingerprint(log.logKey) : null,
      note: log?.noteKey ? vkey(log.origin, ed25519RawFromSpki(log.noteKey)) : null,
    },
  };
}
