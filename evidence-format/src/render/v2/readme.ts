import { type BagInfo, bagValue } from '../../archive/bag.ts';
import { topFolder } from '../../archive/names.ts';
import { assertFormat } from '../../bytes/errors.ts';
import type { Conclusion, EvidenceDocument, Grade } from '../../document/evidence.ts';
import { parseOrigin } from '../../log/note.ts';
import { PREDICATE_TYPE } from '../../signing/statement.ts';
import type { RenderContext } from './context.ts';
import { gapSentence } from './words/gaps.ts';
import { printable } from './words/printable.ts';

const shown = (text: string): string => bagValue(printable(text));

/** bag-info.txt says no more than these values. */
export function bagInfoOf(evidence: EvidenceDocument, payload: BagInfo['payload']): BagInfo {
  return {
    softwareAgent: `${evidence.generator.name} ${evidence.generator.version}`,
    date: evidence.generated_at.slice(0, 10),
    packageId: evidence.package_id,
    workItemId: evidence.work_item.id,
    organization: shown(evidence.organization.name),
    payload,
  };
}

const STATUS: Record<Conclusion, string> = {
  remediated: 'remediated: every finding that counts is shown to be fixed',
  partially_remediated: 'partially remediated: some findings are shown to be fixed; others are not, or were closed by a decision',
  risk_accepted: 'risk accepted: no finding is open, none is shown to be fixed, and at least one was accepted as a risk',
  false_positive: 'false positive: the findings were judged to be false positives',
  not_remediated: 'not remediated',
};

const GRADE: Record<Grade, string> = {
  A: 'A (no gaps)',
  B: 'B (only minor gaps)',
  C: 'C (one kind of major gap)',
  D: 'D (two or more kinds of major gap)',
};

interface ReadmeFacts {
  /** Name of the package's folder and of its ZIP file without `.zip`. */
  folder: string;
  origin: string;
  /** Whether a time-stamping authority stamped the signature. */
  stamped: boolean;
  keys: RenderContext['keys'];
}

/** README.txt. Its readers are auditors who have the package and standard command-line tools. */
export function readmeText(evidence: EvidenceDocument, { keys }: Pick<RenderContext, 'keys'>): string {
  const { origin } = evidence.log;
  // Auditors paste the commands into a shell, so this value must not contain shell syntax.
  assertFormat(/^[A-Za-z0-9.:/-]+$/.test(origin), 'the origin is not a plain name');
  const facts = { folder: topFolder(evidence.work_item.id, evidence.sequence), origin, stamped: evidence.timestamped, keys };
  return [head(evidence), trust(facts), byHand(facts), withCosign(facts), withVerifier(facts), limits].map((part) => `${trimmed(part)}\n`).join('\n');
}

const trimmed = (part: string): string => part.replace(/^\n+|(?<!\n)\n+$/g, '');

/** What users wrote comes last and is quoted. */
function head({ package_id, organization, work_item, generated_at, as_of, conclusion, completeness }: EvidenceDocument): string {
  return `
REMEDIATION EVIDENCE

Conclusion    ${STATUS[conclusion]}
Completeness  ${GRADE[completeness.grade]}
Package       ${package_id}
State as of   ${as_of}
Generated     ${generated_at}
Organization  "${shown(organization.name)}"
Work item     "${shown(work_item.title)}"
${completeness.gaps.map((gap) => `  ${gap.weight === 'note' ? 'note' : 'gap'}: ${shown(gapSentence(gap))}\n`).join('')}
Start with data/report.pdf if the package contains it, or with data/report.html. data/evidence.json and data/findings.jsonl have the same content
for programs.
data/scans and data/artifacts contain the original files, byte for byte as the service received them.
You need no network connection to read or verify this package.`;
}

function trust({ keys, origin, stamped }: ReadmeFacts): string {
  return `
KEYS TO TRUST

The files in proof/keys are copies for convenience. Anyone who forges a package can put their own keys there. Before you rely on any
result below, compare these values with values that you received through another channel: a contract, a letter, a phone call or the
published list of keys.

  package key      ${keys.package}
  log key          ${keys.log}
  checkpoint key   ${keys.note}
  log origin       ${origin}

Put the files that you trust into a folder named T next to the ZIP file:
  T/package.pem  T/log.pem  T/log-note.pem${stamped ? '  T/tsa-root.pem (root certificate of the time-stamping authority)' : ''}
To print the fingerprint of a key file:
  ssh-keygen -i -m PKCS8 -f T/package.pem | ssh-keygen -lf -`;
}

function byHand({ folder, stamped }: ReadmeFacts): string {
  const time = `
8. Check the timestamp of the signature. Repeat for proof/timestamp-2.tsr and later ones if they exist.
If the authority's certificate has expired, add -attime and the stamped time in seconds since 1970.
   openssl ts -verify -data s -in $P/proof/timestamp.tsr -CAfile T/tsa-root.pem
   openssl ts -reply -in $P/proof/timestamp.tsr -text`;
  const noTime = `
8. There is no timestamp to check: no independent authority confirmed when this package was made. Its time rests on the clock of the service
and on the order of the log.`;
  return `
VERIFY BY HAND (bash, unzip, sha256sum, jq, openssl)

0. Set P to the name of the package. All commands use it.
   P=${folder}
1. Check the names before you unpack anything. Both commands must print nothing.
   unzip -Z1 $P.zip | grep -vE "^$P(/[A-Za-z0-9][A-Za-z0-9._-]*)+$"
   unzip -Z1 $P.zip | tr A-Z a-z | sort | uniq -d
2. Unpack the package.
   unzip -q $P.zip && cd $P
3. Check the files against the manifests. Both commands must print "OK".
   sha256sum -c --strict --quiet tagmanifest-sha256.txt && echo OK
   sha256sum -c --strict --quiet manifest-sha256.txt && echo OK
4. Check that no file was added. Both commands must print nothing.
   diff <(find data -type f | LC_ALL=C sort) <(sed 's/^[0-9a-f]\\{64\\}  //' manifest-sha256.txt)
   diff <(find . -type f ! -path './data/*' ! -path './proof/*' ! -name tagmanifest-sha256.txt | sed 's,^\\./,,' | LC_ALL=C sort) \\
        <(sed 's/^[0-9a-f]\\{64\\}  //' tagmanifest-sha256.txt)
5. Check that the audit trail is an unbroken chain and ends with the hash in evidence.json. Must print only "OK".
   prev=$(printf '0%.0s' {1..64}); while IFS= read -r line; do
     [ "$(jq -r .prev <<<"$line")" = "$prev" ] || echo "BROKEN before: $line"
     prev=$(printf %s "$line" | sha256sum | cut -c1-64)
   done < data/audit-trail.jsonl
   [ "$prev" = "$(jq -r .audit_trail.head data/evidence.json)" ] && echo OK
6. Check the signature. Must print "Verified OK".
   cd ..
   jq -r .dsseEnvelope.payload $P/proof/package.sigstore.json | base64 -d > p
   jq -r '.dsseEnvelope.signatures[0].sig' $P/proof/package.sigstore.json | base64 -d > s
   { printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(stat -c %s p)"; cat p; } > pae
   openssl dgst -sha256 -verify T/package.pem -signature s pae
7. Check the files against the hashes in the signed statement. Must print "OK" for each file.
   ( cd $P && jq -r '.subject[]|"\\(.digest.sha256)  \\(.name)"' ../p | sha256sum -c --strict )
${trimmed(stamped ? time : noTime)}`;
}

function withCosign({ origin, stamped }: ReadmeFacts): string {
  const start = '2020-01-01T00:00:00Z';
  const verify = (option: string): string => `cosign verify-blob-attestation${option} --bundle $P/proof/package.sigstore.json --key T/package.pem \\
     --trusted-root T/trusted_root.json${stamped ? ' --use-signed-timestamps' : ''} --type ${PREDICATE_TYPE} \\
     $P/tagmanifest-sha256.txt`;
  const chain = `
   # The chain of the time-stamping authority, with its own certificate first
   openssl ts -reply -in $P/proof/timestamp.tsr -token_out 2>/dev/null | openssl pkcs7 -inform DER -print_certs > T/tsa-chain.pem
   cat T/tsa-root.pem >> T/tsa-chain.pem`;
  return `
VERIFY WITH COSIGN (checks the signature${stamped ? ', the log and the time' : ' and the log'}; run steps 0 to 5 as well)

Create the list of trusted keys, then verify the package. The last command must print "Verified OK".
cosign 3:${stamped ? chain : ''}
   cosign trusted-root create --rekor=url=https://${parseOrigin(origin).name},public-key=T/log.pem,start-time=${start}${
     stamped ? ' \\\n     --tsa=url=https://tsa.invalid,certificate-chain=T/tsa-chain.pem' : ''
   } --out T/trusted_root.json
   ${verify('')}
cosign 2.5:
   cosign trusted-root create --rekor-key=T/log.pem --rekor-start-time=${start}${
     stamped ? ' \\\n     --timestamp-certificate-chain=T/tsa-root.pem' : ''
   } --out T/trusted_root.json
   ${verify(' --new-bundle-format')}
To verify data/evidence.json or data/report.pdf alone, pass it as the last argument instead.
Cosign does not know when a key was valid or whether it was revoked: look up the key in the list of keys that you trust.
Organizations of one installation share its keys, so check that the package is of the right one. Must print the ID of the organization.
   jq -r .dsseEnvelope.payload $P/proof/package.sigstore.json | base64 -d | jq -r .predicate.organization_id
`;
}

function withVerifier({ stamped }: ReadmeFacts): string {
  return `
VERIFY WITH RRS-VERIFY (runs every check and reports each failure with its code)

   rrs-verify $P.zip --key T/package.pem --log-key T/log.pem --note-key T/log-note.pem${stamped ? ' --tsa-root T/tsa-root.pem' : ''}
With the checkpoint of an earlier package of the same organization, rrs-verify compares the log in this package with it and can report a fork:
   sed '1,/^$/d' earlier/proof/package.tlog-proof > earlier.checkpoint
   rrs-verify $P.zip --checkpoint earlier.checkpoint (and the keys as above)`;
}

const limits = `
WHAT THIS PROVES, AND WHAT IT DOES NOT

The proof shows that:
- the holder of the package key signed exactly these files,
- the package is recorded in an append-only log, at the index that the proof names,
- the conclusion follows from the facts and the audit trail in the package.
It cannot show that a scanner reported the truth. For that, check the original reports in data/scans.`;
