import { type Evidence, ed25519RawFromSpki, opensshFingerprint, toBase64, vkey } from '@rrs/evidence-format';
import { type Opened, readPackage } from './archive/read-package.ts';
import type { Source } from './archive/source.ts';
import { checkContent } from './checks/content.ts';
import type { Checked } from './checks/context.ts';
import { checkAuditTrail, checkEvidence } from './checks/evidence.ts';
import { checkHistory } from './checks/history.ts';
import { checkLog, type LogState } from './checks/log.ts';
import { PROOF, readProof } from './checks/proof-files.ts';
import { checkSignature } from './checks/signature.ts';
import { checkTime } from './checks/timestamps.ts';
import type { Platform } from './platform.ts';
import { createFindings, type Findings, type PackageSummary, type Report } from './report.ts';
import { type ParsedTrust, parseTrust, type Trust } from './trust/trust.ts';

/**
 * Checks a package against whom the caller trusts, and reaches nothing but the source. It fails closed: what throws is a failure,
 * and a layer that nobody saw holding does not hold.
 */
export async function verifyPackage(source: Source, trust: Trust, platform: Platform): Promise<Report> {
  const findings = createFindings();
  const summary = await findings.guard('archive', '', () => check(source, trust, { platform, findings }));
  const layers = findings.layers();
  const proven = layers.every(({ name, result }) => result === 'pass' || (name === 'time' && result === 'not_present'));
  const verdict = findings.failures.length > 0 || layers.some(({ result }) => result === 'fail') ? 'failed' : proven ? 'verified' : 'consistent';
  return { verdict, failures: findings.failures, layers, package: summary, notes: findings.notes };
}

async function check(source: Source, trust: Trust, { platform, findings }: { platform: Platform; findings: Findings }): Promise<PackageSummary | null> {
  const parsed = await findings.guard('untrusted_key', '', () => readTrust(trust));
  const opened = await readPackage(source, platform, findings);
  if (opened === null || parsed === null) return null;
  await findings.guard('manifest', '', () => checkContent(opened, findings));
  const evidence = await checkEvidence(opened, findings);
  if (evidence !== null) await checkAuditTrail(opened, evidence, findings);
  const proof = await checkProof({ opened, trust: parsed, platform, findings }, evidence);
  return evidence === null ? null : summarize(opened, evidence, proof);
}

function readTrust(trust: Trust): ParsedTrust {
  try {
    return parseTrust(trust);
  } catch (error) {
    throw new Error(`A key, certificate or checkpoint that was given as trusted cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

interface Proof {
  key: Uint8Array | null;
  log: LogState | null;
  timestamps: PackageSummary['timestamps'];
}

async function checkProof(checked: Checked, evidence: Evidence | null): Promise<Proof> {
  const { opened, findings } = checked;
  const bundle = await readProof(opened, findings);
  if (bundle === null) {
    findings.note('The proof could not be read, so signature, log and time were not checked.');
    return { key: null, log: null, timestamps: [] };
  }
  const key = await findings.guard('signature', PROOF.bundle, () => checkSignature(checked, bundle, evidence));
  const log = await findings.guard('inclusion', PROOF.bundle, () => checkLog(checked, bundle, { evidence, key }));
  if (log !== null) await findings.guard('consistency', PROOF.consistency, () => checkHistory(checked, log));
  const timestamps = (await findings.guard('timestamp', PROOF.bundle, () => checkTime(checked, bundle, evidence))) ?? [];
  return { key, log, timestamps };
}

function summarize({ files, bytes }: Opened, evidence: Evidence, { key, log, timestamps }: Proof): PackageSummary {
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
