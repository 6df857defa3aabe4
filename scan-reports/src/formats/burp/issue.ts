import type { Observation, Severity } from '../../contract.ts';
import { cwesOf, idsIn, observation, RecordError, required, severityOf, urlPlace, webAsset } from '../../shared/normalize.ts';
import { plain } from '../../shared/read.ts';

/** An issue, independent of the form of the file. */
export interface Issue {
  place: string;
  type: string | undefined;
  name: string | undefined;
  /** "https://host:port" */
  origin: string | undefined;
  path: string | undefined;
  /** Insertion point in the request: "/path [id parameter]". */
  location?: string | undefined;
  severity: string | undefined;
  detail: readonly (string | undefined)[];
  remediation: readonly (string | undefined)[];
  references?: string | undefined;
  classifications?: string | undefined;
  seen?: Date | null;
  /** True if texts are plain text, as in JUnit. Otherwise they are HTML. */
  isText?: boolean;
}

/** All issues of extensions have this type. Only their names differ. */
const EXTENSION_ISSUE = '134217728';

/** Serial numbers change with each scan, so type and location identify an issue. */
export function issueOf(issue: Issue): Observation {
  const name = required(issue.name, 'the issue name');
  const asset = webAsset(issue.origin);
  if (asset === null) throw new RecordError('the host is missing');
  const falsePositive = /^false.?positive$/i.test(issue.severity ?? '');
  const readable = (texts: Issue['detail']): string[] => texts.flatMap((text) => (issue.isText ? text : plain(text?.replaceAll(/<li>/gi, '\n- '))) ?? []);
  const texts = readable(issue.detail);
  return observation({
    place: issue.place,
    tool: 'burp',
    rule: issue.type === undefined || issue.type === EXTENSION_ISSUE ? name : issue.type,
    title: name,
    description: texts.join('\n\n'),
    solution: readable(issue.remediation).join('\n\n'),
    severity: severityOfIssue(issue.severity, falsePositive),
    tool_severity: issue.severity,
    vulnerability_ids: idsIn(name, ...texts),
    cwes: cwesOf(issue.classifications),
    references: [...linksIn(issue.references), ...linksIn(issue.classifications)],
    asset,
    location: { url: urlPlace(`${asset.name}${pathOf(issue.path)}`), parameter: insertionPoint(issue.location) },
    suppressed: falsePositive,
    last_seen: issue.seen,
  });
}

function severityOfIssue(word: string | undefined, falsePositive: boolean): Severity {
  return falsePositive ? 'info' : severityOf(word);
}

function pathOf(path: string | undefined): string {
  return path === undefined ? '/' : path.startsWith('/') ? path : `/${path}`;
}

/** Returns "id" for "/path [id parameter]" and "b_id cookie" for "/path [b_id cookie]". */
function insertionPoint(location: string | undefined): string | undefined {
  return /\[([^[\]]+)\]\s*$/.exec(location ?? '')?.[1]?.replace(/ parameter$/, '');
}

function linksIn(text: string | undefined): string[] {
  const links = text?.match(/https?:\/\/[^\s"'<>]+/g) ?? [];
  return links.map((link) => (link.includes('(') ? link : link.replace(/(?<![).,])[).,]+$/, '')));
}
