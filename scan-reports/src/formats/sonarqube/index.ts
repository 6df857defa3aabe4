import { type Asset, type ReportEntry, ReportError, type ReportFormat, type ReportHead, type ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, RecordError, record } from '../../shared/normalize.ts';
import { date, obj, plain, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { isHtmlReport, readHtml } from './html.ts';
import { type Context, hotspotOf, issueOf, type Rule } from './issue.ts';
import { isWhole, LISTS, PREFIXES } from './pages.ts';

export const sonarqube: ReportFormat = {
  id: 'sonarqube',
  name: 'SonarQube',
  description: 'Responses of `api/issues/search` or `api/hotspots/search` of SonarQube or SonarCloud, or JSON or HTML of sonar-report',
  documentation: 'https://next.sonarqube.com/sonarqube/web_api/api/issues/search',
  expects: 'a JSON object with issues or hotspots and paging, JSON of sonar-report with issues and sonarBaseURL, or HTML of sonar-report',
  assetType: 'repository',
  detect: (head) => isJsonReport(head) || isHtmlReport(head),
  async about(input) {
    const { failed, about } = startAbout();
    if (!isJsonReport(await headOf(input))) return about();
    if (!(await isWhole(input))) failed();
    return about();
  },
  async *read(input) {
    const head = await headOf(input);
    if (isHtmlReport(head)) yield* readHtml(input, head);
    else if (isJsonReport(head)) yield* readJson(input, head);
    else if (head.text.startsWith('PK')) throw new ReportError('The file is a ZIP archive. Unpack it and import the reports in it.');
    else throw notThisFormat(sonarqube.expects);
  },
};

function isJsonReport(head: ReportHead): boolean {
  return (
    (hasKeys(head, 'issues') && (hasKeys(head, 'sonarBaseURL') || hasKeys(head, 'paging') || hasKeys(head, 'total', 'p', 'ps'))) ||
    hasKeys(head, 'hotspots', 'paging') ||
    // The rules of a report may fill the head.
    hasKeys(head, 'sonarBaseURL', 'rules')
  );
}

async function* readJson(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const context = await readContext(input);
  yield* runEntry({ finished_at: context.seen, left_out: context.isOfNewCode ? ['known'] : [], restrictions: await restrictionsOf(input, head) });
  yield* runEntry({ asset: context.asset });
  const lists = PREFIXES.flatMap((prefix) => LISTS.map((list) => `${prefix}${list}.*`));
  for await (const found of jsonValues(input, lists)) {
    const place = placeOf(found);
    const read = found.path.at(-2) === 'hotspots' ? hotspotOf : issueOf;
    yield* record(place, () => {
      if (found.error) throw new RecordError(found.error);
      return read(obj(found.value), place, context);
    });
  }
}

/** The API returns issues and hotspots apart, so a response with one of them does not show that the others are gone. sonar-report has both in one list. */
async function restrictionsOf(input: ReportInput, head: ReportHead): Promise<string[]> {
  if (hasKeys(head, 'sonarBaseURL')) return [];
  const shown = new Set<unknown>(LISTS.filter((list) => hasKeys(head, list)));
  const keys = PREFIXES.flatMap((prefix) => LISTS.map((list) => `${prefix}${list}.*.key`));
  for await (const { path } of jsonValues(input, keys)) shown.add(path.at(-3));
  return shown.size === 1 ? [`list ${[...shown].join()}`] : [];
}

const MAX_RULE_TEXT = 2_000;

/** Reads the report fields of sonar-report, and the rules, which come after the issues in API responses. */
async function readContext(input: ReportInput): Promise<Context> {
  const rules = new Map<string, Rule>();
  const names = new Map<string, string>();
  const tops = ['date', 'sonarComponent', 'applicationName', 'projectName'];
  const newCode = ['inNewCodePeriod', 'sinceLeakPeriod'];
  const patterns = PREFIXES.map((prefix) => `${prefix}rules.*`);
  for await (const { path, value } of jsonValues(input, [...tops, ...newCode, ...patterns])) {
    const last = path.at(-1);
    if (path.length === 1) {
      names.set(String(last), value === true ? 'true' : (str(value) ?? ''));
      continue;
    }
    const rule = obj(value);
    const key = str(rule.key) ?? (typeof last === 'string' ? last : undefined);
    const text = str(rule.htmlDesc);
    if (key) rules.set(key, { name: str(rule.name), text: plain(text)?.slice(0, MAX_RULE_TEXT), cwes: cwesOf(text) });
  }
  const project = tops
    .slice(1)
    .map((name) => names.get(name))
    .find(Boolean);
  const asset: Asset | null = project ? { type: 'repository', name: project } : null;
  return { asset, rules, seen: date(names.get('date')), isOfNewCode: newCode.some((name) => names.get(name) === 'true') };
}
