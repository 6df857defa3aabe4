import type { Observation, ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { type JsonRecord, jsonRecords } from '../../json/documents.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { type Obj, obj, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { codeScanningAlert } from './code-scanning.ts';
import { dependabotAlert } from './dependabot.ts';
import { graphqlAlert, REPOSITORY_PATHS, readRepositories } from './graphql.ts';
import { hasAllPages, isNoPage } from './pages.ts';
import { secretScanningAlert } from './secret-scanning.ts';

const ALERT_FIELD = /"(?:security_advisory|security_vulnerability|most_recent_instance|secret_type)"\s*:/;

/** Combinations of keys that only a GitHub alert has. */
const ALERT_KEYS = [
  ['security_advisory', 'dependency'],
  ['security_advisory', 'security_vulnerability'],
  ['rule', 'tool', 'most_recent_instance'],
  ['rule', 'tool', 'instances_url'],
  ['secret_type', 'state'],
];

const TOOLS = { security_advisory: 'dependabot', secret_type: 'secret scanning', rule: 'code scanning' };

export const github: ReportFormat = {
  id: 'github',
  name: 'GitHub alerts',
  description: 'Dependabot, code scanning or secret scanning alerts from the REST API (`gh api …/alerts`), or vulnerabilityAlerts from the GraphQL API',
  documentation: 'https://docs.github.com/en/rest/dependabot/alerts',
  expects: 'a JSON array of Dependabot, code scanning or secret scanning alerts, or a GraphQL response with vulnerabilityAlerts',
  assetType: 'repository',
  detect: (head) => isGraphql(head) || ALERT_KEYS.some((keys) => hasKeys(head, ...keys)),
  async about(input) {
    const head = await headOf(input);
    const kind = isGraphql(head) ? 'security_advisory' : /"(security_advisory|secret_type|rule)"\s*:/.exec(head.text)?.[1];
    const isWhole = isGraphql(head) ? await hasAllPages(input, head) : await isNoPage(input, head);
    return { tools: kind === undefined ? [] : [TOOLS[kind as keyof typeof TOOLS]], finished: isWhole, unread: [] };
  },
  async *read(input) {
    const head = await headOf(input);
    if (isGraphql(head)) yield* readGraphql(input, head);
    else yield* readRest(input, head);
  },
};

function isGraphql({ jsonShape, text }: ReportHead): boolean {
  return jsonShape !== null && /"vulnerabilityAlerts"\s*:\s*(?:\{|null)/.test(text);
}

async function* readRest(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const start = head.text.trimStart();
  // `gh api --paginate --slurp` wraps the pages, which are arrays, in one array.
  const pattern = /^\[\s*\[/.test(start) ? '*.*' : start.startsWith('[') ? '*' : '';
  const isEmpty = /^\[\s*(?:\[\s*\]\s*)?\]/.test(start);
  if (!ALERT_FIELD.test(start) && !isEmpty) throw notThisFormat(github.expects);
  const tools = new Set<string>();
  for await (const found of jsonRecords(input, pattern)) {
    const tool = str(obj(obj(found.value).tool).name);
    if (tool !== undefined) tools.add(tool.toLowerCase());
    yield* readAlert(found, restAlert);
  }
  yield* runEntry({ restrictions: restrictionsOf(tools) });
}

/** The API lists the code scanning alerts of all tools, or those of one (`tool_name`). A list with alerts of one tool says nothing about those of others. */
function restrictionsOf(tools: ReadonlySet<string>): string[] {
  return tools.size === 1 ? [`tool ${[...tools].join()}`] : [];
}

function restAlert(alert: Obj, place: string): Observation {
  if (alert.security_advisory !== undefined || alert.security_vulnerability !== undefined) return dependabotAlert(alert, place);
  if (alert.secret_type !== undefined) return secretScanningAlert(alert, place);
  if (alert.rule !== undefined) return codeScanningAlert(alert, place);
  throw new RecordError('the record is not a Dependabot, code scanning or secret scanning alert');
}

async function* readGraphql(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const pages = head.jsonShape === 'array' ? '*.' : '';
  const repositories = await readRepositories(input, pages);
  for (const asset of repositories.assets()) yield* runEntry({ asset });
  const alerts = ['nodes.*', 'edges.*.node'].map((list) => `vulnerabilityAlerts.${list}`);
  const patterns = REPOSITORY_PATHS.flatMap((path) => alerts.map((list) => `${pages}${path}${list}`));
  for await (const found of jsonValues(input, patterns))
    yield* readAlert({ ...found, place: placeOf(found) }, (alert, place) => graphqlAlert(alert, place, repositories.of(found)));
}

function* readAlert({ place, value, error }: JsonRecord, make: (alert: Obj, place: string) => Observation): Generator<ReportItem> {
  if (error) yield { rejection: { place, reason: error } };
  else yield* record(place, () => make(obj(value), place));
}
