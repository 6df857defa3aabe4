const KIB = 1 << 10;
const MIB = 1 << 20;

/** What the verifier reads at most, so that a hostile package costs bounded memory and time. Sizes are in bytes. */
export const LIMITS = {
  /** Checking stops after this many failures. */
  failures: 100,
  entries: 100_000,
  directory: 32 * MIB,
  manifest: 32 * MIB,
  evidence: 16 * MIB,
  /** Values in evidence.json. A work item with 10,000 findings can have as many assets, and as many decisions that people made one by one. */
  evidenceNodes: 600_000,
  findings: 100_000,
  findingLine: 256 * KIB,
  /** All findings together, because the rules need them at the same time. */
  findingBytes: 256 * MIB,
  trailEvents: 1_000_000,
  trailLine: 64 * KIB,
  /** Lines of an approved state. */
  stateLines: 300_000,
  /** Each file in proof/ and each tag file. */
  proofFile: MIB,
  /** Files that are kept in memory. Further files are only hashed. */
  parsedFiles: 64,
  timestamps: 16,
  cosignatures: 16,
} as const;
