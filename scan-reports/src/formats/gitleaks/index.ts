import type { Asset, Observation, ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';

/** Reads only the fields in `leakOf` and `oldLeakOf`. The others contain the secret, its line, or names and emails of people. */
export const gitleaks: ReportFormat = {
  id: 'gitleaks',
  name: 'Gitleaks',
  description: 'Output of `gitleaks detect|git|dir --report-format json`, version 8 and older',
  documentation: 'https://github.com/gitleaks/gitleaks',
  expects: 'a JSON array of leaks with RuleID, File and StartLine (version 8), or rule, file and offender (older)',
  assetType: 'repository',
  detect,
  async *read(input) {
    const head = await headOf(input);
    // Without leaks, gitleaks writes an empty list, and older versions write null.
    if (!detect(head) && !/^\s*(?:\[\s*\]|null)\s*$/.test(head.text)) throw notThisFormat(gitleaks.expects);
    if (await isOfFolder(input)) yield* runEntry({ restrictions: ['scope=files'] });
    for await (const found of jsonValues(input, ['*'])) {
      const place = placeOf(found);
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        const leak = obj(found.value);
        return 'rule' in leak ? oldLeakOf(leak, place) : leakOf(leak, place);
      });
    }
  },
};

function detect(head: ReportHead): boolean {
  if (head.jsonShape !== 'array') return false;
  const isLeak = /"RuleID"\s*:/.test(head.text) && /"StartLine"\s*:/.test(head.text) && /"(?:Secret|Match|Fingerprint)"\s*:/.test(head.text);
  return (isLeak && !hasKeys(head, 'Target')) || (/"offender"\s*:/.test(head.text) && /"rule"\s*:/.test(head.text));
}

/** A scan of files (`gitleaks dir`) names no commits, and says nothing about secrets that are only in the history. */
async function isOfFolder(input: ReportInput): Promise<boolean> {
  let isOfFiles = false;
  for await (const { value } of jsonValues(input, ['*.Commit', '*.commit'])) {
    if (str(value)) return false;
    isOfFiles = true;
  }
  return isOfFiles;
}

function leakOf(leak: Obj, place: string): Observation {
  const rule = required(str(leak.RuleID), 'RuleID');
  const commit = str(leak.Commit);
  const link = str(leak.Link);
  return observation({
    place,
    tool: 'gitleaks',
    rule,
    // The fingerprint consists of commit, file, rule and line. Without a commit, it changes when the line moves.
    external_id: commit ? str(leak.Fingerprint) : undefined,
    title: str(leak.Description) ?? `Secret found by ${rule}`,
    description: commitText(commit, date(leak.Date)),
    severity: 'high',
    cwes: [798],
    references: link ? [link] : [],
    asset: repositoryOf(link),
    location: { path: filePath(required(str(leak.File), 'File')), line: count(leak.StartLine), end_line: count(leak.EndLine) },
    tags: ['secret', ...strs(leak.Tags)],
  });
}

/** Version 7 and older. Before version 7 there is no line number. */
function oldLeakOf(leak: Obj, place: string): Observation {
  const rule = required(str(leak.rule), 'rule');
  const commit = str(leak.commit);
  const url = str(leak.repoURL);
  const repository = str(leak.repo);
  return observation({
    place,
    tool: 'gitleaks',
    rule,
    title: `${rule} found`,
    description: commitText(commit, date(leak.date)),
    severity: 'high',
    cwes: [798],
    references: strs(leak.leakURL),
    asset: url ? repositoryAsset(url) : repository && !/^[./\\]/.test(repository) ? repositoryAsset(repository) : null,
    location: { path: filePath(required(str(leak.file), 'file')), line: count(leak.lineNumber) },
    tags: [
      'secret',
      ...strs(leak.tags)
        .join(',')
        .split(',')
        .map((tag) => tag.trim()),
    ],
  });
}

function commitText(commit: string | undefined, day: Date | null): string | null {
  return commit ? `Commit ${commit}${day ? ` of ${day.toISOString().slice(0, 10)}` : ''}` : null;
}

function repositoryAsset(name: string): Asset {
  return { type: 'repository', name: name.replace(/\.git$/, '') };
}

/** In links to GitHub and GitLab, the repository is the part before the file path. */
function repositoryOf(link: string | undefined): Asset | null {
  const [, repository] = /^(https?:\/\/[^/?#]+\/[^?#]+?)\/(?:-\/)?blob\//.exec(link ?? '') ?? [];
  return repository ? repositoryAsset(repository) : null;
}
