import type { About, LookedFor, Observation, ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, idsIn, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { arr, count, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startList } from '../../shared/run.ts';

/** A run over one kind of file is an object. A run over several kinds is an array of such objects. */
const PREFIXES = ['', '*.'] as const;
const MAX_UNPARSED = 10_000;
const MAX_FOLDERS = 100;
const MAX_SKIPPED = 10_000;

export const checkov: ReportFormat = {
  id: 'checkov',
  name: 'Checkov',
  description: 'Output of `checkov --output json` with misconfigurations, secrets and vulnerable packages',
  documentation: 'https://www.checkov.io/2.Basics/Reviewing%20Scan%20Results.html',
  expects: 'a JSON object or an array of objects with check_type and results, or the summary of a run that checked nothing',
  assetType: 'repository',
  detect,
  about: aboutRun,
  async *read(input) {
    const head = await headOf(input);
    if (!detect(head) && !/^\s*\[\s*\]\s*$/.test(head.text)) throw notThisFormat(checkov.expects);
    const { types, version, counts } = await readContext(input);
    const isEmpty = counts.resources === 0 || !detect(head);
    // A run of one framework says nothing about the others. With several, the tool writes a list.
    const [framework = '', ...others] = new Set(types.values());
    const restrictions = framework !== '' && others.length === 0 ? [`--framework ${framework}`] : [];
    // Of secrets, the tool writes only those that it found. A run that found nothing to check proves nothing.
    const secrets: LookedFor[] = [...types.values()].includes('secrets') ? [] : ['secrets'];
    const left_out: LookedFor[] = isEmpty ? ['files', 'libraries', 'system_packages', ...secrets] : secrets;
    yield* runEntry({ tool_version: version, files: await filesIn(input), restrictions, left_out });
    const lists = PREFIXES.flatMap((prefix) => [`${prefix}results.failed_checks.*`, `${prefix}results.skipped_checks.*`]);
    const listed = { failed: 0, skipped: 0, located: 0 };
    for await (const found of jsonValues(input, lists)) {
      const place = placeOf(found);
      const isSkipped = found.path.at(-2) === 'skipped_checks';
      listed[isSkipped ? 'skipped' : 'failed']++;
      if (isSkipped && pathOf(obj(found.value)) !== undefined) listed.located++;
      yield* record(place, () => {
        if (found.error) throw new RecordError(found.error);
        return checkOf(obj(found.value), place, types.get(runKey(found)), isSkipped);
      });
    }
    // With `--quiet`, checks that a comment skips are only counted.
    const isHidden = Math.max(counts.skipped, listed.skipped) > listed.located;
    yield* runEntry({ hidden_in: isHidden ? ['.'] : [], ...(counts.failed > listed.failed ? { unfinished: true } : {}) });
  },
};

function detect(head: ReportHead): boolean {
  return (
    hasKeys(head, 'check_type', 'results') ||
    (hasKeys(head, 'results') && /"(?:failed|passed)_checks"\s*:/.test(head.text)) ||
    hasKeys(head, 'checkov_version', 'failed', 'passed')
  );
}

const PATHS = ['passed', 'failed', 'skipped'].flatMap((outcome) => ['file_path', 'file_abs_path'].map((field) => `results.${outcome}_checks.*.${field}`));

/** Files with passed checks. Without them (`--quiet`), it is not known which files were read. */
async function filesIn(input: ReportInput): Promise<readonly string[] | undefined> {
  const files = startList();
  let hasPassed = false;
  let check: Record<string, unknown> = {};
  for await (const { document, path, value } of jsonValues(
    input,
    PREFIXES.flatMap((prefix) => PATHS.map((field) => `${prefix}${field}`)),
  )) {
    const key = [document, ...path.slice(0, -1)].join('.');
    if (check.key !== key) {
      if (check.key !== undefined) files.add(pathOf(check));
      check = { key };
    }
    check[String(path.at(-1))] = value;
    hasPassed ||= path.at(-3) === 'passed_checks';
  }
  if (!hasPassed) return undefined;
  files.add(pathOf(check));
  return files.list();
}

/** Checkov lists unparsed files by absolute path. The checks, which have both paths, show which prefix is the scanned folder. */
async function aboutRun(input: ReportInput): Promise<About> {
  const { missed, about } = startAbout();
  if (!detect(await headOf(input))) return about();
  const unparsed: (string | undefined)[] = [];
  const folders = new Set<string>();
  let check: Record<string, string | undefined> = {};
  let [counted, listed] = [0, 0];
  for await (const { path, value } of jsonValues(
    input,
    PREFIXES.flatMap((prefix) => ['summary.parsing_errors', 'results.parsing_errors.*', ...PATHS].map((field) => `${prefix}${field}`)),
  )) {
    const field = path.at(-1);
    if (typeof field === 'number') listed++;
    if (typeof field === 'number' && unparsed.length <= MAX_UNPARSED) unparsed.push(filePath(str(value)));
    if (field === 'parsing_errors') counted += count(value) ?? 0;
    if (typeof field !== 'string' || field === 'parsing_errors') continue;
    const key = path.slice(0, -1).join('.');
    check = { ...(check.key === key ? check : { key }), [field]: filePath(str(value)) };
    const folder = folderOf(check);
    if (folder !== undefined && folders.size < MAX_FOLDERS) folders.add(folder);
  }
  for (const path of unparsed) missed(path && relativeTo(folders, path));
  // With `--quiet`, files that it could not read are only counted.
  if (counted > listed) missed(undefined);
  const skipped = await skippedIn(input);
  if (skipped.length > MAX_SKIPPED) missed(undefined);
  return { ...about(), ...(skipped.length > 0 ? { skipped: skipped.slice(0, MAX_SKIPPED) } : {}) };
}

/** A comment in the code skips a check of a resource. The check did not run, so it proves nothing. */
async function skippedIn(input: ReportInput): Promise<{ rule: string; path: string }[]> {
  const skipped: { rule: string; path: string }[] = [];
  for await (const { value } of jsonValues(
    input,
    PREFIXES.map((prefix) => `${prefix}results.skipped_checks.*`),
  )) {
    const check = obj(value);
    const [rule, path] = [str(check.check_id) ?? str(check.bc_check_id), pathOf(check)];
    if (rule !== undefined && path !== undefined && skipped.length <= MAX_SKIPPED) skipped.push({ rule, path });
  }
  return skipped;
}

function folderOf({ file_path: path, file_abs_path: full }: Record<string, string | undefined>): string | undefined {
  if (path === undefined || !full?.endsWith(path)) return undefined;
  return path === full ? '' : full.slice(0, -path.length).replace(/(?<!\/)\/*$/, '/');
}

function relativeTo(folders: ReadonlySet<string>, path: string): string | undefined {
  if (!/^(?:\/|[a-z]:)/i.test(path)) return path;
  const [folder] = [...folders].filter((one) => path.startsWith(one)).sort((a, b) => b.length - a.length);
  return folder === undefined ? undefined : path.slice(folder.length);
}

async function readContext(
  input: ReportInput,
): Promise<{ types: Map<string, string>; version: string | undefined; counts: { failed: number; skipped: number; resources: number | null } }> {
  const types = new Map<string, string>();
  let version: string | undefined;
  const counts: { failed: number; skipped: number; resources: number | null } = { failed: 0, skipped: 0, resources: null };
  const fields = ['check_type', 'summary.checkov_version', 'checkov_version', 'summary.failed', 'summary.skipped', 'summary.resource_count', 'resource_count'];
  for await (const found of jsonValues(
    input,
    PREFIXES.flatMap((prefix) => fields.map((field) => `${prefix}${field}`)),
  )) {
    const field = found.path.at(-1);
    if (field === 'check_type') types.set(runKey(found), str(found.value) ?? '');
    else if (field === 'failed' || field === 'skipped') counts[field] += count(found.value) ?? 0;
    else if (field === 'resource_count') counts.resources = (counts.resources ?? 0) + (count(found.value) ?? 0);
    else version = str(found.value) ?? version;
  }
  return { types, version, counts };
}

function runKey({ document, path }: JsonValue): string {
  return `${document} ${typeof path[0] === 'number' ? path[0] : ''}`;
}

/** Check types whose resources have addresses. The address identifies a failed check even if the resource moves to another line. */
const TYPES_WITH_ADDRESSES = new Set([
  'arm',
  'bicep',
  'cdk',
  'cloudformation',
  'helm',
  'kubernetes',
  'kustomize',
  'serverless',
  'terraform',
  'terraform_json',
  'terraform_plan',
]);

function checkOf(check: Obj, place: string, type: string | undefined, skipped: boolean): Observation | null {
  const details = obj(check.vulnerability_details);
  const component = str(details.package_name);
  // A skipped check did not run, so nothing is known to be wrong. A skipped vulnerability was found and then filtered.
  if (skipped && component === undefined) return null;
  const rule = required(str(check.check_id) ?? str(check.bc_check_id), 'check_id');
  const word = str(check.severity) ?? str(obj(check.severity).name) ?? str(details.severity);
  const [start, end] = arr(check.file_line_range);
  // For secrets, the resource is a hash of the secret, which must not be stored.
  const resource = type === 'secrets' ? undefined : (str(check.resource_address) ?? str(check.resource));
  return observation({
    place,
    tool: 'checkov',
    rule,
    title: (component ? str(check.short_description) : undefined) ?? str(check.check_name) ?? rule,
    description: [str(check.description) ?? str(details.description), ...strs(check.details)].filter(Boolean).join('\n\n'),
    severity: word === undefined ? 'medium' : severityOf(word),
    tool_severity: word,
    vulnerability_ids: component ? idsIn(str(details.id), rule.replaceAll('_', '-')) : [],
    cwes: type === 'secrets' ? [798] : [],
    cvss: ratingOf(details.vector, details.cvss),
    references: [...strs(check.guideline), ...strs(details.link)].filter((reference) => /^https?:/i.test(reference)),
    location: {
      component,
      version: str(details.package_version),
      fixed_version: fixedVersion(details),
      path: pathOf(check),
      line: count(start),
      end_line: count(end),
      resource,
      fingerprint: TYPES_WITH_ADDRESSES.has(type ?? '') && component === undefined ? resource : undefined,
    },
    suppressed: skipped,
    tags: [type ?? [], str(check.bc_category) ?? []].flat(),
  });
}

/** `file_path` is relative to the scanned folder, but starts with "/". */
function pathOf(check: Obj): string | undefined {
  const path = str(check.file_path);
  return filePath(path !== undefined && path === str(check.file_abs_path) ? path : path?.replace(/^\/+/, ''));
}

function fixedVersion(details: Obj): string | undefined {
  const versions = strs(details.fixed_versions);
  const lowest = str(details.lowest_fixed_version) ?? str(details.fix_version)?.replace(/^fixed in\s*/i, '');
  if (lowest !== undefined && /\d/.test(lowest)) return lowest;
  return versions.length > 0 ? versions.join(', ') : undefined;
}
