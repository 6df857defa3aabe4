import { type EvidenceDocument, ed25519RawFromSpki, gapSentence, opensshFingerprint, reasonsOf, supersededPackage, toBase64, vkey } from '@rrs/evidence-format';
import { type OpenedPackage, readPackage } from './archive/read-package.ts';
import type { Source } from './archive/source.ts';
import { checkContent, TAG_MANIFEST } from './checks/content.ts';
import type { CheckContext } from './checks/context.ts';
import { checkHistory } from './checks/history.ts';
import { checkLog, type LogState } from './checks/log.ts';
import { checkLogFacts } from './checks/log-facts.ts';
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
import { addTo, type Comparison, compareWith, type Previous } from './previous.ts';
import { type Content, checkEvidence } from './recompute/check-evidence.ts';
import { EVIDENCE } from './recompute/fault.ts';
import { checkRendering } from './rendering/check-rendering.ts';
import { CheckingStopped, createRecorder, type PackageSummary, type Report, type StatusResult, type WitnessSummary } from './report.ts';
import { takenOnTrust } from './taken-on-trust.ts';
import { type ParsedTrust, parseTrust, type Trust } from './trust/trust.ts';

export interface VerifyOptions {
  /** In milliseconds. Checking that takes longer is a failure. Default: no limit. */
  timeLimit?: number;
  /** Current time in milliseconds since 1970. Default: the clock of this machine. */
  now?: number;
  /** An earlier package of the same work item. This one must still show everything that it showed. */
  previous?: Previous;
  /** Called with evidence.json after its hash and the signature over it were checked. Nothing is proven before the report says so. */
  onDocument?: (document: EvidenceDocument) => void;
}

/**
 * Verifies a package with the keys that the caller trusts. Reads nothing but the source. It fails closed: an exception or a limit that is
 * reached is a failure, and a layer that no check marked as passed does not count as passed.
 */
export async function verifyPackage(source: Source, trust: Trust, platform: Platform, options: VerifyOptions = {}): Promise<Report> {
  const comparison = options.previous === undefined ? null : compareWith(options.previous);
  const { report } = await verify(source, { trust, platform, options, onEvent: (event) => comparison?.add(event), onRead: comparison?.finish });
  return report;
}

/** Verifies a package, and returns what a later package of the same work item must still show. Null if it is not verified. */
export async function verifyPrevious(
  source: Source,
  trust: Trust,
  platform: Platform,
  options: VerifyOptions = {},
): Promise<{ report: Report; previous: Previous | null }> {
  const events = new Map<string, string>();
  const { report, tagManifest } = await verify(source, { trust, platform, options, onEvent: addTo(events) });
  const { package: summary } = report;
  if (report.verdict !== 'verified' || summary === null || summary.log === null) return { report, previous: null };
  const log = { epoch: summary.log.epoch, index: summary.log.index };
  const ids = { packageId: summary.id, workItemId: summary.work_item.id, organizationId: summary.organization.id, sequence: summary.sequence };
  return { report, previous: { ...ids, tagManifest, log, events } };
}

interface Verification {
  trust: Trust;
  platform: Platform;
  options: VerifyOptions;
  onEvent: CheckContext['onEvent'];
  /** Called when evidence.json and an unbroken audit trail were read. */
  onRead?: Comparison['finish'] | undefined;
}

async function verify(source: Source, { trust, platform, options, onEvent, onRead }: Verification): Promise<{ report: Report; tagManifest: string }> {
  const recorder = createRecorder(options.timeLimit);
  const given = { platform, recorder, now: options.now ?? Date.now(), onEvent };
  const checked = await untilStopped(() => recorder.guard('archive', '', () => check(source, trust, { given, onRead, onDocument: options.onDocument })));
  const layers = recorder.layers();
  const proven = layers.every(({ name, result }) => result === 'pass' || (name === 'time' && result === 'not_present'));
  const verdict = recorder.failures.length > 0 || layers.some(({ result }) => result === 'fail') ? 'failed' : proven ? 'verified' : 'consistent';
  const summary = checked?.summary ?? null;
  const report: Report = {
    owner: summary === null ? null : { organization: summary.organization, origin: summary.log?.origin ?? '', expected: isExpected(trust) },
    verdict,
    failures: recorder.failures,
    layers,
    package: summary,
    status: checked?.status ?? null,
    notes: recorder.notes,
    taken_on_trust: takenOnTrust({
      stamped: summary?.timestamps.some(({ trusted }) => trusted) ?? false,
      compared:
        (trust.checkpoints.length > 0 || (summary?.witnesses.some(({ trusted }) => trusted) ?? false)) &&
        layers.some(({ name, result }) => name === 'history' && result === 'pass'),
    }),
  };
  return { report, tagManifest: checked?.tagManifest ?? '' };
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

interface Checked {
  summary: PackageSummary | null;
  /** SHA-256 of tagmanifest-sha256.txt, which identifies the package. */
  tagManifest: string;
  status: StatusResult | null;
}

/** Nothing in data/ is parsed before its hash and the signature over the hash are checked. */
async function check(
  source: Source,
  trust: Trust,
  { given, onRead, onDocument }: { given: Omit<CheckContext, 'opened' | 'trust'>; onRead: Verification['onRead']; onDocument: VerifyOptions['onDocument'] },
): Promise<Checked | null> {
  const { platform, recorder } = given;
  const parsed = await recorder.guard('untrusted_key', '', () => readTrust(trust));
  const opened = await readPackage(source, platform, recorder);
  if (opened === null || parsed === null) return null;
  await recorder.guard('manifest', '', () => checkContent(opened, recorder));
  const first = { ...given, opened, trust: parsed };
  const context = (await recorder.guard('succession', SUCCESSION, () => followSuccession(first))) ?? first;
  const bundle = await readProof(opened, recorder);
  const signed = bundle === null ? null : await recorder.guard('signature', PROOF.bundle, () => checkSignature(context, bundle));
  if (bundle === null || signed === null) {
    recorder.note('The proof could not be read, so the content, the log and the time were not checked.');
    return null;
  }
  const content = await checkSigned(context, signed);
  const document = content?.document ?? null;
  if (document !== null) onDocument?.(document);
  if (document !== null && !recorder.failed('audit_trail')) onRead?.(document, recorder);
  const proof = await checkProof(context, { bundle, document, key: signed.key });
  if (content !== null) await recorder.guard('rendering', '', () => checkRendering(context, content, proof));
  const summary = document === null ? null : summarize(opened, document, proof);
  return { summary, tagManifest: opened.files.get(TAG_MANIFEST)?.sha256 ?? '', status: proof.status };
}

async function checkSigned(context: CheckContext, { statement }: Signed): Promise<Content | null> {
  const { recorder } = context;
  if (recorder.failed('signature')) {
    recorder.note('The content of data/ was not read, because no valid signature covers it.');
    return null;
  }
  const content = await checkEvidence(context);
  if (content !== null && statement !== null) checkPredicate(context, statement, content.document);
  return content;
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

async function checkProof(
  context: CheckContext,
  { bundle, document, key }: { bundle: Bundle; document: EvidenceDocument | null; key: Proof['key'] },
): Promise<Proof> {
  const { recorder } = context;
  const log = await recorder.guard('inclusion', PROOF.bundle, () => checkLog(context, bundle, { document, key }));
  if (log !== null && document !== null) checkOwner(context, document, log.origin);
  if (log !== null) {
    const epoch = await recorder.guard('epoch', PROOF.epoch, () => checkEpoch(context, { log, bundle, document }));
    await recorder.guard('consistency', PROOF.consistency, () => checkHistory(context, log, epoch));
    if (document !== null) await recorder.guard('log_facts', EVIDENCE, () => checkLogFacts(context, document, { log, bundle, epoch }));
  }
  const witnesses = log === null || document === null ? [] : await checkConfirmed(context, log, document);
  const status = log === null || document === null ? null : await recorder.guard('status', '', () => checkStatus(context, { evidence: document, log }));
  const timestamps = (await recorder.guard('timestamp', PROOF.bundle, () => checkTime(context, bundle))) ?? [];
  if (document !== null)
    checkTimes(context, { generatedAt: document.generated_at, timestamps, bundle, keys: { package: key, log: log?.logKey, note: log?.noteKey } });
  return { key, log, timestamps, status, witnesses };
}

async function checkConfirmed(context: CheckContext, { checkpoint }: LogState, { generated_at }: EvidenceDocument): Promise<WitnessSummary[]> {
  const { recorder, trust } = context;
  const witnesses = (checkpoint && (await recorder.guard('cosignature', PROOF.tlogProof, () => checkWitnesses(context, checkpoint, generated_at)))) ?? [];
  if (trust.witnessKeys.length > 0 && !witnesses.some(({ trusted }) => trusted))
    recorder.setLayer('history', 'not_checked', 'none of the witnesses that you trust confirmed the checkpoint');
  return witnesses;
}

function summarize({ files, bytes }: OpenedPackage, document: EvidenceDocument, { key, log, timestamps, witnesses }: Proof): PackageSummary {
  const supersedes = supersededPackage(document);
  return {
    id: document.package_id,
    organization: document.organization,
    work_item: { id: document.work_item.id, title: document.work_item.title },
    sequence: document.sequence,
    conclusion: document.conclusion,
    reasons: reasonsOf(document.counts),
    grade: document.completeness.grade,
    gaps: document.completeness.gaps.map((gap) => ({ code: gap.code, weight: gap.weight, what: gapSentence(gap) })),
    generated_at: document.generated_at,
    supersedes: supersedes && { package_id: supersedes.package_id, sequence: supersedes.sequence },
    files: files.size,
    bytes,
    timestamps,
    log: log === null ? null : { origin: log.origin, epoch: document.log.epoch, index: log.index, size: log.size, root: toBase64(log.root) },
    witnesses,
    keys: {
      package: key === null ? null : opensshFingerprint(key),
      log: log?.logKey ? opensshFingerprint(log.logKey) : null,
      note: log?.noteKey ? vkey(log.origin, ed25519RawFromSpki(log.noteKey)) : null,
    },
  };
}
