/** Every fault the verifier can report. The codes are stable and are those of docs/evidence-package.md. */
export const LAYERS = ['container', 'content', 'evidence', 'audit_trail', 'signature', 'log', 'history', 'time'] as const;
export type LayerName = (typeof LAYERS)[number];

export interface CodeInfo {
  layer: LayerName;
  meaning: string;
}

export const CODES = {
  archive: { layer: 'container', meaning: 'The file is not a ZIP of the exact form that evidence packages have.' },
  truncated: { layer: 'container', meaning: 'The file ends too early: part of the package is missing.' },
  compressed: { layer: 'container', meaning: 'An entry is compressed or encrypted; evidence packages store their files as they are.' },
  trailing_bytes: { layer: 'container', meaning: 'There are bytes behind the end of the ZIP.' },
  entry_mismatch: { layer: 'container', meaning: 'An entry and the directory of the ZIP disagree, so two programs could unpack different files.' },
  layout: { layer: 'container', meaning: 'An entry lies outside the one folder that an evidence package has.' },
  name: { layer: 'container', meaning: 'An entry has a name that is not safe to unpack.' },
  duplicate: { layer: 'container', meaning: 'Two entries have the same name, or names that differ only in case.' },
  too_large: { layer: 'container', meaning: 'Something exceeds a limit of the verifier and was not read.' },
  bag: { layer: 'content', meaning: 'bagit.txt or bag-info.txt does not say what it must, or not the truth.' },
  manifest: { layer: 'content', meaning: 'A list of hashes is not in its exact form.' },
  payload_changed: { layer: 'content', meaning: 'A file is not the one that was sealed: its hash differs.' },
  payload_missing: { layer: 'content', meaning: 'A file that was sealed is not in the package.' },
  payload_extra: { layer: 'content', meaning: 'A file was not sealed and has no business in the package.' },
  tag_changed: { layer: 'content', meaning: 'A file that describes the package is not the one that was sealed.' },
  tag_missing: { layer: 'content', meaning: 'A file that describes the package is missing.' },
  tag_extra: { layer: 'content', meaning: 'There is a file outside data/ and proof/ that was not sealed.' },
  proof_missing: { layer: 'signature', meaning: 'A part of the proof is missing.' },
  proof_extra: { layer: 'signature', meaning: 'There is a file in proof/ that belongs to no proof.' },
  key_copy: { layer: 'signature', meaning: 'A key in proof/keys is not the one that the proof names.' },
  statement_copy: { layer: 'signature', meaning: 'proof/statement.json is not what was signed.' },
  statement: { layer: 'signature', meaning: 'What was signed is not a statement about an evidence package.' },
  subject: { layer: 'signature', meaning: 'The signed statement is about other files than those in the package.' },
  predicate: { layer: 'signature', meaning: 'The signed statement and evidence.json say different things.' },
  bundle: { layer: 'signature', meaning: 'proof/package.sigstore.json is not in its exact form.' },
  signature: { layer: 'signature', meaning: 'The signature does not fit what it is said to sign.' },
  key_id: { layer: 'signature', meaning: 'The name of the signing key is not that of the key.' },
  untrusted_key: { layer: 'signature', meaning: 'The package is signed by a key that is not among those you trust.' },
  key_period: { layer: 'signature', meaning: 'The package says that it was made when its key was not yet, or no longer, in use.' },
  leaf: { layer: 'log', meaning: 'The entry of the log is not in its exact form.' },
  leaf_mismatch: { layer: 'log', meaning: 'The entry of the log is about another package.' },
  inclusion: { layer: 'log', meaning: 'The entry is not in the log at the place that the package claims.' },
  promise: { layer: 'log', meaning: 'The log did not sign that it took the entry at that time.' },
  checkpoint: { layer: 'log', meaning: 'The signed state of the log is not that of the log of this organization and of this proof.' },
  checkpoint_signature: { layer: 'log', meaning: 'The state of the log is not signed by its key.' },
  log_disagrees: { layer: 'log', meaning: 'The two signed states of the log are not about the same tree.' },
  tlog_proof: { layer: 'log', meaning: 'proof/package.tlog-proof is not in its exact form or proves something else.' },
  untrusted_log_key: { layer: 'log', meaning: 'The log is signed by a key that is not among those you trust.' },
  consistency: { layer: 'history', meaning: 'The log is not shown to be a continuation of its earlier state.' },
  fork: { layer: 'history', meaning: 'The log showed you another history than it shows in this package.' },
  timestamp: { layer: 'time', meaning: 'A timestamp is damaged, is over something else, or was not issued as timestamps must be.' },
  timestamp_copy: { layer: 'time', meaning: 'A timestamp file is not the one in the proof.' },
  untrusted_timestamp: { layer: 'time', meaning: 'A timestamp was issued by an authority that is not among those you trust.' },
  audit_trail: { layer: 'audit_trail', meaning: 'The chain of audit events is broken, or is not the one that evidence.json names.' },
  schema: { layer: 'evidence', meaning: 'evidence.json is not in its exact form.' },
  evidence: { layer: 'evidence', meaning: 'evidence.json contradicts itself or the files in the package.' },
  gap_missing: { layer: 'evidence', meaning: 'Something is missing in the evidence and the package does not say so.' },
} as const satisfies Record<string, CodeInfo>;

export type Code = keyof typeof CODES;
