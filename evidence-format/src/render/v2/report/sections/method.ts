import type { Evidence } from '../../../../document/evidence.ts';
import { PREDICATE_TYPE } from '../../../../signing/statement.ts';
import type { RenderContext } from '../../context.ts';
import { GRADE_LEGEND } from '../../words/conclusion.ts';
import { count, grouped } from '../../words/numbers.ts';
import type { Fact, Section } from '../model.ts';
import { words } from '../model.ts';
import { historyFacts } from './policy.ts';

export function methodSection(): Section {
  return {
    id: 'method',
    heading: 'Method',
    blocks: [
      words(
        'Findings come from scan reports, from connections to scanners and from people. Records that describe the same weakness at the same place are one finding. A report closes a finding only if it covers its place, names its time, is not older than the claim and comes from a scan that could have seen the weakness.',
      ),
      {
        kind: 'facts',
        facts: [
          [
            'Fixed',
            'A scan that covered the place after the claim no longer shows the finding, and no scan since contradicts it; or a second person confirmed the fix.',
          ],
          ['Excepted', 'A person decided: accepted risk, false positive, withdrawal, retired asset or version, merge. The weakness may still exist.'],
          ['Set aside', 'The source itself took back this finding. It counts neither way.'],
          ['Not fixed', 'Everything else, including claims without proof.'],
        ],
      },
      words(
        'Remediated: every finding that counts is fixed. Partially remediated: some are fixed, others are excepted or not fixed. Risk accepted and false positive: nothing is open, nothing is fixed. Not remediated: everything else.',
      ),
      words(`${GRADE_LEGEND} The verifier computes conclusion, gaps, checks, decisions and grade again from the facts and the audit trail in the package.`),
    ],
  };
}

export function verifySection(evidence: Evidence, { keys, sha256 }: RenderContext): Section {
  const { audit_trail, package_id, generator, clock } = evidence;
  const facts: Fact[] = [
    ['Package key', keys.package],
    ['Log key', keys.log],
    ['Checkpoint key', keys.note],
    ...historyFacts(evidence),
    ['Audit trail', `${count(audit_trail.events, 'event')}, head ${audit_trail.head}`],
    ['evidence.json', sha256.evidence],
    ['findings.jsonl', sha256.findings],
    ['Package ID', package_id],
    ['Build of the service', generator.build_sha256 ?? 'Unknown'],
    ['Clock', `Operating system of the service; the clock of its database differed by ${grouped(clock.database_offset_ms)} ms`],
  ];
  return {
    id: 'verify',
    heading: 'How to verify',
    blocks: [
      words(
        'This report only presents the evidence. The evidence is the package: its files, their hashes, the signature, the transparency log and the timestamps.',
      ),
      words(
        'Without a network connection, this command checks every layer, computes the conclusion again and writes this report again to compare it. T is a folder with keys that you received separately from the package.',
      ),
      { kind: 'commands', lines: ['rrs-verify package.zip --key T/package.pem --log-key T/log.pem --note-key T/log-note.pem'] },
      words('With standard tools, in the unpacked folder:'),
      {
        kind: 'commands',
        lines: [
          'sha256sum -c --strict --quiet tagmanifest-sha256.txt',
          'sha256sum -c --strict --quiet manifest-sha256.txt',
          `cosign verify-blob-attestation --key T/package.pem --bundle proof/package.sigstore.json --type ${PREDICATE_TYPE} --insecure-ignore-tlog tagmanifest-sha256.txt`,
        ],
      },
      words('The last command requires cosign 3 and checks only the signature. README.txt describes the other steps.'),
      { kind: 'heading', text: 'Values to compare' },
      { kind: 'facts', facts },
    ],
  };
}

export function glossarySection(): Section {
  return {
    id: 'glossary',
    heading: 'Glossary',
    blocks: [
      {
        kind: 'facts',
        facts: [
          ['Asset', 'Something that is scanned: a host, a container image, a repository, a web application, a cloud resource.'],
          ['Assurance', 'How a fix is known: by the word of a person, by an artifact, or by a scan.'],
          ['Audit trail', 'All recorded acts, in a chain in which each line has the hash of the line before.'],
          ['Brake', 'Holds back a scan that would close unusually many findings until a person confirms it.'],
          ['Claim', 'A statement of a person that the fix is in place.'],
          ['Finding', 'A weakness at a place on an asset.'],
          ['Gap', 'Something that is missing or unusual and that an auditor would ask about.'],
          ['KEV', 'The catalog of known exploited vulnerabilities of the United States agency CISA.'],
          ['Participant', 'Somebody who worked on the item, decided about it, or delivered a scan that counts.'],
          ['Source', 'A scanner or another tool as it is known to the service.'],
          ['Track', 'A branch or release line of an asset.'],
          ['Transparency log', 'An append-only list of all packages of the organization.'],
          ['Work item', 'A task that groups findings to be fixed together.'],
        ],
      },
    ],
  };
}
