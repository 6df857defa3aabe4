/** Every failure that the verifier can report. The codes are stable. docs/evidence-package.md defines when each one applies. */
export const LAYERS = ['container', 'content', 'evidence', 'audit_trail', 'signature', 'log', 'history', 'time'] as const;
export type LayerName = (typeof LAYERS)[number];

export interface CodeInfo {
  layer: LayerName;
  meaning: string;
}

export const CODES = {
  archive: { layer: 'container', meaning: 'The file is not a ZIP archive in the exact form of an evidence package.' },
  truncated: { layer: 'container', meaning: 'The file ends too early. Part of the package is missing.' },
  compressed: { layer: 'container', meaning: 'An entry is compressed or encrypted. Evidence packages store files uncompressed and unencrypted.' },
  trailing_bytes: { layer: 'container', meaning: 'There are extra bytes after the end of the ZIP archive.' },
  entry_mismatch: { layer: 'container', meaning: 'An entry and the ZIP directory disagree, so two programs could unpack different files.' },
  layout: { layer: 'container', meaning: "An entry is outside the package's single top-level folder." },
  name: { layer: 'container', meaning: 'An entry has a name that is not safe to unpack.' },
  duplicate: { layer: 'container', meaning: 'Two entries have names that are the same file on some systems.' },
  too_large: { layer: 'container', meaning: 'Part of the package exceeds a limit of the verifier and was not read.' },
  deadline: { layer: 'container', meaning: 'The time limit was reached before all checks were done.' },
  bag: { layer: 'content', meaning: 'bagit.txt or bag-info.txt is malformed or does not match the package.' },
  manifest: { layer: 'content', meaning: 'A manifest of hashes is not in its exact form.' },
  payload_changed: { layer: 'content', meaning: 'A file differs from the one that was sealed. Its hash does not match.' },
  payload_missing: { layer: 'content', meaning: 'A file that was sealed is not in the package.' },
  payload_extra: { layer: 'content', meaning: 'The package contains a file that was not sealed.' },
  tag_changed: { layer: 'content', meaning: 'A file that describes the package differs from the one that was sealed.' },
  tag_missing: { layer: 'content', meaning: 'A file that describes the package is missing.' },
  tag_extra: { layer: 'content', meaning: 'There is a file outside data/ and proof/ that was not sealed.' },
  proof_missing: { layer: 'signature', meaning: 'A part of the proof is missing.' },
  proof_extra: { layer: 'signature', meaning: 'There is a file in proof/ that is not part of the proof.' },
  key_copy: { layer: 'signature', meaning: 'A key in proof/keys is not the key that the proof identifies.' },
  statement_copy: { layer: 'signature', meaning: 'proof/statement.json differs from the statement that was signed.' },
  statement: { layer: 'signature', meaning: 'The signed content is not a valid statement about an evidence package.' },
  subject: { layer: 'signature', meaning: 'The signed statement does not match the files in the package.' },
  predicate: { layer: 'signature', meaning: 'The signed statement and evidence.json disagree.' },
  bundle: { layer: 'signature', meaning: 'proof/package.sigstore.json is not in its exact form.' },
  signature: { layer: 'signature', meaning: 'The signature is not valid for the signed statement.' },
  key_id: { layer: 'signature', meaning: 'The key ID in the proof does not belong to the signing key.' },
  untrusted_key: { layer: 'signature', meaning: 'The package is signed with a key that is not one of your trusted keys.' },
  succession: { layer: 'signature', meaning: 'The statement about replaced keys is damaged or not signed with all of them.' },
  key_period: { layer: 'signature', meaning: 'It is not proven that the package was signed while its keys were in use.' },
  organization: { layer: 'evidence', meaning: 'The package belongs to another organization than the one you expect.' },
  origin: { layer: 'log', meaning: 'The package is in another log than the one you expect.' },
  leaf: { layer: 'log', meaning: 'The log entry is not in its exact form.' },
  leaf_mismatch: { layer: 'log', meaning: 'The log entry belongs to another package.' },
  inclusion: { layer: 'log', meaning: 'The log does not contain the entry at the index that the package claims.' },
  promise: { layer: 'log', meaning: 'The log key did not sign this entry with this time.' },
  checkpoint: { layer: 'log', meaning: 'A checkpoint does not belong to the log of this organization or does not match the proof.' },
  checkpoint_signature: { layer: 'log', meaning: 'A checkpoint is not signed with the key of the log.' },
  log_disagrees: { layer: 'log', meaning: 'The two checkpoints of the log describe different trees.' },
  tlog_proof: { layer: 'log', meaning: 'proof/package.tlog-proof is not in its exact form or does not match the bundle.' },
  untrusted_log_key: { layer: 'log', meaning: 'The log is signed with a key that is not one of your trusted keys.' },
  cosignature: { layer: 'history', meaning: 'The signature of a witness that you trust is not valid for the checkpoint.' },
  epoch: { layer: 'history', meaning: 'The statement at the start of the log is missing, changed, or about another log.' },
  consistency: { layer: 'history', meaning: 'The proof does not show that the log extends its earlier state.' },
  fork: { layer: 'history', meaning: 'The log in this package contradicts a checkpoint that you already have.' },
  status: { layer: 'history', meaning: 'Your status statement contradicts the package.' },
  timestamp: { layer: 'time', meaning: 'A timestamp is damaged, stamps something else, or was not issued according to the standard.' },
  timestamp_copy: { layer: 'time', meaning: 'A timestamp file differs from the timestamp in the proof.' },
  time_mismatch: { layer: 'time', meaning: 'The times of the package, the log and the time-stamping authority do not fit together.' },
  untrusted_timestamp: { layer: 'time', meaning: 'The timestamps were issued by authorities that you do not trust.' },
  audit_trail: { layer: 'audit_trail', meaning: 'The chain of audit events is broken or does not match evidence.json.' },
  schema: { layer: 'evidence', meaning: 'evidence.json is not in its exact form.' },
  evidence: { layer: 'evidence', meaning: 'evidence.json contradicts itself or the files in the package.' },
  gap_missing: { layer: 'evidence', meaning: 'Evidence is missing and the package does not list the gap.' },
} as const satisfies Record<string, CodeInfo>;

export type Code = keyof typeof CODES;
