import type { Observation, ReportInput, ReportItem } from '../../contract.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { isObj, type Obj, obj, str } from '../../shared/read.ts';
import { issueOf } from './issue.ts';

/** Reads the events of a scan and skips all except found issues. */
export async function* readRest(input: ReportInput): AsyncGenerator<ReportItem> {
  for await (const found of jsonValues(input, ['issue_events.*'])) {
    yield* readEntry(found, (event, place) => {
      if ((str(event.type) ?? 'issue_found') !== 'issue_found') return null;
      const issue = obj(event.issue);
      return issueOf({
        place,
        type: str(issue.type_index),
        name: str(issue.name),
        origin: str(issue.origin),
        path: str(issue.path),
        location: str(issue.caption),
        severity: str(issue.severity),
        detail: [str(issue.description), str(issue.issue_background)],
        remediation: [str(issue.remediation), str(issue.remediation_background)],
      });
    });
  }
}

/** Reads a GraphQL response, or only its list of issues, which is usually saved under the name Issues. */
export async function* readGraphql(input: ReportInput): AsyncGenerator<ReportItem> {
  for await (const found of jsonValues(input, ['Issues.*', 'data.scan.issues.*', 'scan.issues.*'])) {
    yield* readEntry(found, (issue, place) => {
      const type = obj(issue.issue_type);
      return issueOf({
        place,
        type: str(type.type_index),
        name: str(type.name),
        origin: str(issue.origin),
        path: str(issue.path),
        severity: str(issue.severity),
        detail: [str(issue.description_html), str(type.description_html)],
        remediation: [str(issue.remediation_html), str(type.remediation_html)],
        references: str(type.references_html),
        classifications: str(type.vulnerability_classifications_html),
      });
    });
  }
}

function* readEntry(found: JsonValue, make: (entry: Obj, place: string) => Observation | null): Generator<ReportItem> {
  const place = placeOf(found);
  yield* record(place, () => {
    if (found.error) throw new RecordError(found.error);
    if (!isObj(found.value)) throw new RecordError('the record is not an object');
    return make(found.value, place);
  });
}
