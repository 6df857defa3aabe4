import { canonicalJson, chainLine, TRAIL_START, utf8 } from '@rrs/evidence-format';
import { type Files, type Recipe, writeManifests } from '../src/testing/build.ts';
import { IDS } from '../src/testing/sample.ts';
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

const trail = (lines: string[]): Pick<Recipe, 'payload'> => ({
  payload: (files) => void files.set('data/audit-trail.jsonl', utf8(lines.map((line) => `${line}\n`).join(''))),
});

const first = chainLine({ type: 'a' }, 1, TRAIL_START);

export const content: Vector[] = [
  failing(
    'a changed file',
    ['file_reference', 'payload_changed'],
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
    ['bag', 'file_reference', 'payload_extra', 'rendering'],
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
    ['bag', 'file_reference', 'payload_missing', 'rendering'],
    changed((files) => files.delete(ARTIFACT)),
  ),
  failing(
    'a removed report',
    ['bag', 'payload_missing', 'subject'],
    changed((files) => files.delete('data/report.pdf')),
  ),
  failing(
    'a renamed file',
    ['file_reference', 'payload_extra', 'payload_missing'],
    changed((files) => rename(files, ARTIFACT, `${ARTIFACT}2`)),
  ),
  failing(
    'two swapped files',
    ['file_reference', 'payload_changed'],
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
    ['rendering', 'tag_changed'],
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
    ['bag', 'rendering'],
    sealed({
      tags: (files) => {
        edit(files, 'bag-info.txt', (text) => text.replace('Oxum: ', 'Oxum: 1'));
        writeManifests(files);
      },
    }),
  ),
  failing(
    'bag-info.txt of another package',
    ['rendering'],
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
  failing('findings that are not canonical', ['schema'], sealed({ findingsText: (text) => text.replace(':', ': ') })),
  failing('findings without the final line feed', ['schema'], sealed({ findingsText: (text) => text.trimEnd() })),
  failing('findings in another order', ['schema'], sealed({ findingsText: (text) => text.replace(/^(.+\n)(.+\n)/, '$2$1') })),
  failing('a duplicate finding', ['schema'], sealed({ findingsText: (text) => text.replace(/^(.+\n)/, '$1$1') })),
  failing(
    'a duplicate key in a finding',
    ['schema'],
    sealed({ findingsText: (text) => text.replace('{"acceptance":null,', '{"acceptance":null,"acceptance":null,') }),
  ),
  failing('an unknown field in a finding', ['schema'], sealed({ findingsText: (text) => text.replace('"work_items":', '"worked":1,"work_items":') })),
  failing('a finding that is not JSON', ['schema'], sealed({ findingsText: (text) => text.replace('{', '[') })),
  failing('no findings.jsonl', ['file_reference', 'schema'], sealed({ payload: (files) => void files.delete('data/findings.jsonl') })),

  failing('a changed audit event', ['audit_trail'], sealed(trail([first.line.replace('"a"', '"b"'), chainLine({ type: 'b' }, 2, first.hash).line]))),
  failing('a removed audit event', ['audit_trail'], sealed(trail([chainLine({ type: 'b' }, 2, first.hash).line]))),
  failing('an audit trail that does not match evidence.json', ['audit_trail'], sealed(trail([first.line]))),
  failing('an audit event that is not canonical', ['audit_trail'], sealed(trail([first.line.replace(':', ': ')]))),
  failing('no audit trail', ['audit_trail', 'file_reference'], sealed({ payload: (files) => void files.delete('data/audit-trail.jsonl') })),
];
