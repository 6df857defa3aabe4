import type { ReportEntry, ReportInput } from '../../contract.ts';
import { parseUrl, RecordError, record } from '../../shared/normalize.ts';
import { date, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { recordText, type XmlRecord, xmlRecords } from '../../xml/records.ts';
import { type Issue, issueOf } from './issue.ts';
import { momentsOf } from './zones.ts';

const FIELDS = [
  'type',
  'name',
  'host',
  'path',
  'location',
  'severity',
  'issueBackground',
  'remediationBackground',
  'references',
  'vulnerabilityClassifications',
  'issueDetail',
  'issueDetailItems',
  'remediationDetail',
];

export async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  let report: Readonly<Record<string, string>> = {};
  const tags = {
    issues: (attributes: typeof report) => {
      report = attributes;
    },
  };
  for await (const found of xmlRecords(input, 'issues/issue', FIELDS, tags)) yield* record(found.place, () => issueOf(fromXml(found)));
  const exported = exportTime(report.exportTime);
  const times = exported?.earliest.getTime() === exported?.latest.getTime() ? { finished_at: exported?.latest } : { started_at: exported?.earliest };
  yield* runEntry({ tool_version: report.burpVersion, ...times });
}

function fromXml(found: XmlRecord): Issue {
  const text = (field: string): string | undefined => str(recordText(found, field));
  const items = found.fields.get('issueDetailItems')?.[0]?.children.map(({ text: item }) => `<li>${item}</li>`) ?? [];
  return {
    place: found.place,
    type: text('type'),
    name: text('name'),
    origin: text('host'),
    path: text('path'),
    location: text('location'),
    severity: text('severity'),
    detail: [text('issueDetail'), items.join(''), text('issueBackground')],
    remediation: [text('remediationDetail'), text('remediationBackground')],
    references: text('references'),
    classifications: text('vulnerabilityClassifications'),
    seen: exportTime(found.parents[0]?.attributes.exportTime)?.latest ?? null,
  };
}

/**
 * Parses "Sat Sep 13 22:39:44 UTC 2014". Several zones share an abbreviation, and not all are known: what the report shows was there at the latest moment that
 * this can be, and what it does not show was gone at the earliest.
 */
function exportTime(text: string | undefined): ReturnType<typeof momentsOf> | null {
  const [, month, day, time, zone = '', year] = /^\w{3} (\w{3}) (\d{1,2}) ([\d:]{8}) (\S+) (\d{4})$/.exec(text ?? '') ?? [];
  const local = date(`${month} ${day} ${year} ${time} UTC`);
  return local && momentsOf(local, zone);
}

/** Each page that was scanned is a suite of tests. Without any, the scan has reached nothing. */
export async function* readJunit(input: ReportInput): AsyncGenerator<ReportEntry> {
  let hasTests = false;
  for await (const { element, place } of xmlElements(input, ['testsuites/testsuite/testcase'])) {
    hasTests = true;
    const failures = element.children.filter(({ name }) => name === 'failure');
    for (const [index, failure] of failures.entries()) {
      const failurePlace = `${place}/failure[${index + 1}]`;
      yield* record(failurePlace, () => issueOf(fromFailure(failure, element, failurePlace)));
    }
  }
  if (!hasTests) yield* runEntry({ unfinished: true });
}

const HEADINGS = [
  'Issue Detail',
  'Issue Background',
  'Remediation Detail',
  'Issue Remediation',
  'Remediation Background',
  'Vulnerability Classifications',
  'References',
  'Evidence',
];

/** The text has labels ("Severity: High", "Host: …", "Path: …"), then sections below headings on lines of their own. */
function fromFailure(failure: XmlElement, testcase: XmlElement, place: string): Issue {
  const lines = failure.text.split(/\r?\n/).map((line) => line.trim());
  const label = (name: string): string | undefined => str(lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2));
  const section = (...names: string[]): string | undefined => {
    const from = lines.findIndex((line) => names.some((name) => line.replace(/:$/, '').toLowerCase() === name.toLowerCase()));
    if (from === -1) return undefined;
    const length = lines.slice(from + 1).findIndex((line) => HEADINGS.some((name) => line.replace(/:$/, '').toLowerCase() === name.toLowerCase()));
    return str(lines.slice(from + 1, length === -1 ? undefined : from + 1 + length).join('\n'));
  };
  if (failure.text === '' && failure.attributes.message === undefined) throw new RecordError('the failure is empty');
  const [, url] = / found at (https?:\/\/\S+)$/.exec(failure.attributes.message ?? '') ?? [];
  return {
    place,
    type: undefined,
    name: str(testcase.attributes.name) ?? str(childText(testcase, 'name')),
    origin: label('Host') ?? url,
    path: label('Path') ?? parseUrl(url)?.pathname,
    severity: str(failure.attributes.type) ?? label('Severity'),
    detail: [section('Issue Detail'), section('Issue Background')],
    remediation: [section('Remediation Detail'), section('Issue Remediation', 'Remediation Background')],
    references: section('References'),
    classifications: section('Vulnerability Classifications'),
    isText: true,
  };
}
