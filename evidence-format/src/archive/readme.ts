import { assertFormat } from '../bytes/errors.ts';
import type { Conclusion, Grade } from '../document/evidence.ts';
import { PREDICATE_TYPE } from '../signing/statement.ts';
import { bagValue } from './bag.ts';
import { isSafeName } from './names.ts';

export interface ReadmeFacts {
  /** Of the package, without the ending of the file. */
  folder: string;
  packageId: string;
  organization: string;
  workItemTitle: string;
  generatedAt: string;
  asOf: string;
  status: Conclusion;
  grade: Grade;
  gaps: readonly { what: string }[];
  stamped: boolean;
  /** `<host>/orgs/<organization id>`. */
  origin: string;
  keys: {
    /** `SHA256:…` of the keys for packages and for the log. */
    package: string;
    log: string;
    /** Of the log's Ed25519 key. */
    vkey: string;
  };
}

const STATUS: Record<Conclusion, string> = {
  remediated: 'remediated: every finding was verified to be gone',
  partially_remediated: 'partially remediated: some findings were verified to be gone, others were not or are excepted',
  risk_accepted: 'risk accepted: no finding is open, and at least one is accepted as a risk instead of being fixed',
  false_positive: 'false positive: the findings were judged to be mistakes of the scanner',
  not_remediated: 'not remediated',
};

const GRADE: Record<Grade, string> = {
  A: 'A (nothing is missing)',
  B: 'B (minor things are missing)',
  C: 'C (one important thing is missing)',
  D: 'D (several important things are missing)',
};

/** README.txt: for the auditor, who has this file and ordinary tools. */
export function readmeText(facts: ReadmeFacts): string {
  // What stands in a command is pasted into a shell.
  assertFormat(isSafeName(facts.folder) && /^[A-Za-z0-9.:/-]+$/.test(facts.origin), 'a folder or an origin that is no plain name');
  return [head(facts), trust(facts), byHand(facts), withCosign(facts), withVerifier(facts), limits].map((part) => `${part.trim()}\n`).join('\n');
}

function head({ packageId, organization, workItemTitle, generatedAt, asOf, status, grade, gaps }: ReadmeFacts): string {
  return `
REMEDIATION EVIDENCE

Work item     ${bagValue(workItemTitle)}
Organization  ${bagValue(organization)}
Package       ${packageId}
State as of   ${asOf}
Generated     ${generatedAt}
Conclusion    ${STATUS[status]}
Completeness  ${GRADE[grade]}
${gaps.map(({ what }) => `  missing: ${bagValue(what)}\n`).join('')}
Begin with data/report.pdf or data/report.html where they are there. data/evidence.json says the same to programs; data/scans and data/artifacts
hold the originals, byte for byte as they were received. Nothing here needs a network.`;
}

function trust({ keys, origin, stamped }: ReadmeFacts): string {
  return `
WHOM TO TRUST

The files in proof/keys are copies for convenience. Anybody who forges a package can put their own keys there: compare these values with
those that you received by another way (a contract, a letter, a call, the published list of keys) before you rely on anything below.

  key of packages   ${keys.package}
  key of the log    ${keys.log}
  log of notes      ${keys.vkey}
  name of the log   ${origin}

Put the files that you trust into a folder T beside the ZIP file:
  T/package.pem  T/log.pem  T/log-note.pem${stamped ? '  T/tsa-root.pem (root certificate of the time-stamping authority)' : ''}
Fingerprint of a key file:
  ssh-keygen -i -m PKCS8 -f T/package.pem | ssh-keygen -lf -`;
}

function byHand({ folder, stamped }: ReadmeFacts): string {
  const time = `
8. The time: a time-stamping authority saw the signature (and so for proof/timestamp-2.tsr and others, where they are there).
   openssl ts -verify -data s -in $P/proof/timestamp.tsr -CAfile T/tsa-root.pem
   openssl ts -reply -in $P/proof/timestamp.tsr -text
   After the certificate of the authority has expired, add -attime with the seconds since 1970 of the time stamped.`;
  const noTime = `
8. The time: no independent authority confirmed the time of this package. It rests on the clock of its maker and on the order of the log.`;
  return `
BY HAND (bash, unzip, sha256sum, jq, openssl)

0. In all commands P is the name of the package.
   P=${folder}
1. Names, before anything is unpacked. Both commands must print nothing.
   unzip -Z1 $P.zip | grep -vE "^$P(/[A-Za-z0-9][A-Za-z0-9._-]*)+$"
   unzip -Z1 $P.zip | tr A-Z a-z | sort | uniq -d
2. Unpack.
   unzip -q $P.zip && cd $P
3. The files are those of the manifests.
   sha256sum -c --strict --quiet tagmanifest-sha256.txt && echo OK
   sha256sum -c --strict --quiet manifest-sha256.txt && echo OK
4. Nothing was added. Must print nothing.
   diff <(find data -type f | LC_ALL=C sort) <(sed 's/^[0-9a-f]\\{64\\}  //' manifest-sha256.txt)
   diff <(find . -type f ! -path './data/*' ! -path './proof/*' ! -name tagmanifest-sha256.txt | sed 's,^\\./,,' | LC_ALL=C sort) \\
        <(sed 's/^[0-9a-f]\\{64\\}  //' tagmanifest-sha256.txt)
5. The audit trail is one chain that ends where evidence.json says.
   prev=$(printf '0%.0s' {1..64}); while IFS= read -r line; do
     [ "$(jq -r .prev <<<"$line")" = "$prev" ] || echo "BROKEN before: $line"
     prev=$(printf %s "$line" | sha256sum | cut -c1-64)
   done < data/audit-trail.jsonl
   [ "$prev" = "$(jq -r .audit_trail.head data/evidence.json)" ] && echo OK
6. The signature. Must print "Verified OK".
   cd ..
   jq -r .dsseEnvelope.payload $P/proof/package.sigstore.json | base64 -d > p
   jq -r '.dsseEnvelope.signatures[0].sig' $P/proof/package.sigstore.json | base64 -d > s
   { printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(stat -c %s p)"; cat p; } > pae
   openssl dgst -sha256 -verify T/package.pem -signature s pae
7. What was signed are these files.
   ( cd $P && jq -r '.subject[]|"\\(.digest.sha256)  \\(.name)"' ../p | sha256sum -c --strict )
${(stamped ? time : noTime).trim()}`;
}

function withCosign({ origin, stamped }: ReadmeFacts): string {
  const create = `cosign trusted-root create --rekor=url=https://${origin},public-key=T/log.pem,start-time=2020-01-01T00:00:00Z${
    stamped
      ? ` \\
     --tsa=url=https://tsa.invalid,certificate-chain=T/tsa-root.pem`
      : ''
  } --out T/trusted_root.json`;
  const verify = (version: string): string => `cosign verify-blob-attestation${version} --bundle $P/proof/package.sigstore.json --key T/package.pem \\
     --trusted-root T/trusted_root.json${stamped ? ' --use-signed-timestamps' : ''} --type ${PREDICATE_TYPE} \\
     $P/tagmanifest-sha256.txt`;
  return `
WITH COSIGN (signature, log${stamped ? ' and time' : ''} in one command; steps 1 to 5 remain)

The list of what you trust is made once, by cosign 3 (2.5 reads it too)${stamped ? '; T/tsa-root.pem then holds the whole chain of the authority' : ''}:
   ${create}
cosign 3:
   ${verify('')}
cosign 2.5:
   ${verify(' --new-bundle-format')}
The same works for data/evidence.json alone and for data/report.pdf alone, as the last argument.
`;
}

function withVerifier({ stamped }: ReadmeFacts): string {
  return `
WITH RRS-VERIFY (everything, and every fault by name)

   rrs-verify $P.zip --key T/package.pem --log-key T/log.pem --note-key T/log-note.pem${stamped ? ' --tsa-root T/tsa-root.pem' : ''}
With the checkpoint of an earlier package of the same organization, a log that was rewritten since then shows:
   sed '1,/^$/d' earlier/proof/package.tlog-proof > earlier.checkpoint
   rrs-verify $P.zip --checkpoint earlier.checkpoint (and the keys as above)`;
}

const limits = `
WHAT THIS PROVES, AND WHAT NOT

It proves that these bytes are those that the holder of the key sealed, that the package stands in an append-only log at its place, and that its
conclusion follows from the findings inside. No cryptography proves that a scanner told the truth: that is why the originals are here.`;
