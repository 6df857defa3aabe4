import { canonicalJson, chainLine, type Evidence, TRAIL_START, utf8 } from '@rrs/evidence-format';
import { type Files, type Recipe, writeManifests } from '../src/testing/build.ts';
import { gap, IDS, sampleFinding } from '../src/testing/sample.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const ARTIFACT = `data/artifacts/${IDS.artifact}/content`;
const AFTER = `data/scans/after/${IDS.after}/report`;
const EVIDENCE = 'data/evidence.json';

function rename(files: Files, from: string, to: string): void {
  files.set(to, files.get(from) ?? new Uint8Array());
  files.delete(from);
}

function swap(files: Files, a: string, b: string): void {
  const [first, second] = [files.get(a), files.get(b)];
  files.set(a, second ?? new Uint8Array());
  files.set(b, first ?? new Uint8Array());
}

/** Seals a false evidence.json with the right keys. */
function sealedWith(change: (evidence: Evidence) => void): ReturnType<typeof sealed> {
  return sealed({ evidence: change });
}

const trail = (lines: string[]): Pick<Recipe, 'payload'> => ({
  payload: (files) => void files.set('data/audit-trail.jsonl', utf8(lines.map((line) => `${line}\n`).join(''))),
});

const first = chainLine({ type: 'a' }, 1, TRAIL_START);

export const content: Vector[] = [
  failing(
    'a changed file',
    ['evidence', 'payload_changed'],
    changed((files) => edit(files, ARTIFACT, (text) => text.replace('App', 'app'))),
  ),
  failing(
    'a changed file with rewritten manifests',
    ['subject'],
    changed((files) => {
      edit(files, ARTIFACT, (text) => text.replace('App', 'app'));
      writeManifests(files);
    }),
  ),
  failing(
    'an added file',
    ['bag', 'evidence', 'payload_extra'],
    changed((files) => files.set('data/more.txt', utf8('more'))),
  ),
  failing(
    'an added file with rewritten manifests',
    ['bag', 'subject'],
    changed((files) => {
      files.set('data/more.txt', utf8('more'));
      writeManifests(files);
    }),
  ),
  failing(
    'a removed file',
    ['bag', 'evidence', 'payload_missing'],
    changed((files) => files.delete(ARTIFACT)),
  ),
  failing(
    'a removed report',
    ['bag', 'payload_missing', 'subject'],
    changed((files) => files.delete('data/report.pdf')),
  ),
  failing(
    'a renamed file',
    ['evidence', 'payload_extra', 'payload_missing'],
    changed((files) => rename(files, ARTIFACT, `${ARTIFACT}2`)),
  ),
  failing(
    'two swapped files',
    ['evidence', 'payload_changed'],
    changed((files) => swap(files, ARTIFACT, AFTER)),
  ),
  failing(
    'an edited manifest',
    ['subject', 'tag_changed', 'payload_changed'],
    changed((files) => edit(files, 'manifest-sha256.txt', (text) => text.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0')))),
  ),
  failing(
    'a manifest with a duplicate line',
    ['manifest', 'subject', 'tag_changed'],
    changed((files) => edit(files, 'manifest-sha256.txt', (text) => text.replace(/^(.*\n)/, '$1$1'))),
  ),
  failing(
    'a manifest with CR LF',
    ['manifest', 'payload_extra', 'subject', 'tag_changed'],
    changed((files) => edit(files, 'manifest-sha256.txt', (text) => text.replaceAll('\n', '\r\n'))),
  ),
  failing(
    'a tag manifest that lists a proof file',
    ['manifest'],
    sealed({
      tags: (files) => edit(files, 'tagmanifest-sha256.txt', (text) => `${text}${'0'.repeat(64)}  proof/statement.json\n`),
    }),
  ),
  failing(
    'no manifest',
    ['subject', 'tag_missing'],
    changed((files) => files.delete('manifest-sha256.txt')),
  ),
  failing(
    'no tag manifest',
    ['subject', 'tag_missing'],
    changed((files) => files.delete('tagmanifest-sha256.txt')),
  ),
  failing(
    'a changed README',
    ['tag_changed'],
    changed((files) => edit(files, 'README.txt', (text) => `${text}Trust me.\n`)),
  ),
  failing(
    'no README',
    ['tag_missing'],
    changed((files) => files.delete('README.txt')),
  ),
  failing(
    'an added tag file',
    ['tag_extra'],
    changed((files) => files.set('VERIFY.sh', utf8('exit 0\n'))),
  ),
  failing(
    'a different BagIt version',
    ['bag'],
    sealed({
      tags: (files) => {
        edit(files, 'bagit.txt', (text) => text.replace('1.0', '0.97'));
        writeManifests(files);
      },
    }),
  ),
  failing(
    'a wrong Payload-Oxum',
    ['bag'],
    sealed({
      tags: (files) => {
        edit(files, 'bag-info.txt', (text) => text.replace(/Oxum: 1/, 'Oxum: 2').replace(/Oxum: (?=[3-9])/, 'Oxum: 1'));
        writeManifests(files);
      },
    }),
  ),
  failing(
    'bag-info.txt of another package',
    ['bag'],
    sealed({
      tags: (files) => {
        edit(files, 'bag-info.txt', (text) => text.replace(IDS.package, IDS.previous));
        writeManifests(files);
      },
    }),
  ),

  failing(
    'no evidence.json',
    ['bag', 'payload_missing', 'subject'],
    changed((files) => files.delete(EVIDENCE)),
  ),
  failing(
    'a duplicate key in evidence.json',
    ['schema'],
    sealed({ evidenceText: (text) => text.replace('{"abandoned_leaves":[],', '{"abandoned_leaves":[],"abandoned_leaves":[],') }),
  ),
  failing('spaces in evidence.json', ['schema'], sealed({ evidenceText: (text) => text.replace('":', '": ') })),
  failing('evidence.json without the final line feed', ['schema'], sealed({ evidenceText: (text) => text.trimEnd() })),
  failing('an unknown field in evidence.json', ['schema'], sealed({ evidenceText: (text) => `${canonicalJson({ ...JSON.parse(text), zzz: 1 })}\n` })),
  failing('a missing field in evidence.json', ['schema'], sealed({ evidenceText: (text) => text.replace('"note":null,', '') })),
  failing(
    'a conclusion that does not follow from the findings',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.conclusion.status = 'risk_accepted';
    }),
  ),
  failing(
    'the conclusion remediated with an open finding',
    ['evidence', 'gap_missing'],
    sealedWith((evidence) => {
      evidence.findings[1] = sampleFinding(2, 'open');
      evidence.counts.by_status = { ...evidence.counts.by_status, open: 1, verified: 1 };
    }),
  ),
  failing(
    'a wrong grade',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.completeness.grade = 'A';
    }),
  ),
  failing(
    'a gap with too low a weight',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.completeness.gaps.push(gap('no_rescan', 'minor'));
    }),
  ),
  failing(
    'the gap no_timestamp not listed',
    ['gap_missing'],
    sealedWith((evidence) => {
      evidence.completeness = { grade: 'A', gaps: [] };
    }),
  ),
  failing(
    'the gap no_approval not listed',
    ['gap_missing'],
    sealedWith((evidence) => {
      evidence.approvals = [];
    }),
  ),
  failing(
    'the gap scan_not_kept not listed',
    ['gap_missing'],
    sealedWith((evidence) => {
      const [scan] = evidence.scans;
      if (scan) scan.file = null;
    }),
  ),
  failing(
    'the gap artifact_removed not listed',
    ['gap_missing'],
    sealedWith((evidence) => {
      const [artifact] = evidence.artifacts;
      if (artifact) Object.assign(artifact, { removed: { at: evidence.as_of, by: evidence.requested_by, reason: 'wrong file' } });
    }),
  ),
  failing(
    'the gap interrupted_sealing not listed',
    ['gap_missing'],
    sealedWith((evidence) => {
      evidence.abandoned_leaves.push({ index: 2, leaf_sha256: '0'.repeat(64), reason: 'power' });
    }),
  ),
  failing(
    'wrong counts',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.counts.findings = 3;
    }),
  ),
  failing(
    'a file with a wrong hash in evidence.json',
    ['evidence'],
    sealedWith((evidence) => Object.assign(evidence.files[0] ?? {}, { sha256: '0'.repeat(64) })),
  ),
  failing(
    'a file that evidence.json does not list',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.files.pop();
    }),
  ),
  failing(
    'a scan with a missing file',
    ['evidence'],
    sealedWith((evidence) => Object.assign(evidence.scans[0] ?? {}, { file: 'data/scans/before/none' })),
  ),
  failing(
    'an artifact with a wrong hash',
    ['evidence'],
    sealedWith((evidence) => Object.assign(evidence.artifacts[0] ?? {}, { sha256: '0'.repeat(64) })),
  ),
  failing(
    'a finding with an unknown scan',
    ['evidence'],
    sealedWith((evidence) => Object.assign(evidence.findings[0] ?? {}, { after: { state: 'absent', scan: IDS.previous } })),
  ),
  failing(
    'a duplicate finding',
    ['evidence'],
    sealedWith((evidence) => Object.assign(evidence.findings[1] ?? {}, { id: evidence.findings[0]?.id })),
  ),
  failing(
    'a package that replaces a newer one',
    ['evidence'],
    sealedWith((evidence) => {
      evidence.supersedes = { package_id: IDS.previous, sequence: 3 };
    }),
  ),

  failing('a changed audit event', ['audit_trail'], sealed(trail([first.line.replace('"a"', '"b"'), chainLine({ type: 'b' }, 2, first.hash).line]))),
  failing('a removed audit event', ['audit_trail'], sealed(trail([chainLine({ type: 'b' }, 2, first.hash).line]))),
  failing('an audit trail that does not match evidence.json', ['audit_trail'], sealed(trail([first.line]))),
  failing('an audit event that is not canonical', ['audit_trail'], sealed(trail([first.line.replace(':', ': ')]))),
  failing('no audit trail', ['audit_trail'], sealed({ payload: (files) => void files.delete('data/audit-trail.jsonl') })),
];
