const KIB = 1 << 10;
const MIB = 1 << 20;

/** What the verifier reads at most, so that a hostile package costs bounded memory and time. Sizes are in bytes. */
export const LIMITS = {
  /** Checking stops after this many failures. */
  failures: 100,
  entries: 100_000,
  directory: 32 * MIB,
  manifest: 32 * MIB,
  /** 10,000 findings with their occurrences need about half of it. */
  evidence: 64 * MIB,
  /** Values in evidence.json. */
  evidenceNodes: 3_000_000,
  trailEvents: 1_000_000,
  trailLine: 64 * KIB,
  /** Each file in proof/ and each tag file. */
  proofFile: MIB,
  /** Files that are kept in memory. Further files are only hashed. */
  parsedFiles: 64,
  timestamps: 16,
  cosignatures: 16,
} as const;
