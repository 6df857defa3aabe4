/** What the readable files need besides the evidence. All of it is in the package. */
export interface RenderContext {
  /** OpenSSH fingerprints of the package key and of the P-256 log key, and the verifier key of the log's Ed25519 key. */
  keys: { package: string; log: string; note: string };
  /** SHA-256 of data/evidence.json and data/findings.jsonl in hexadecimal. */
  sha256: { evidence: string; findings: string };
}
