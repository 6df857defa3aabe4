import { assetTypes, severities } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { criticalities, exposures } from '../../assets/values.ts';
import { Id, Named, Nullable, OneOf, PersonRef, Text, Timestamp } from '../../http/schemas.ts';
import { reasonCodes, reasonSentences } from '../reason-codes.ts';
import { assurances, justifications, statuses } from '../status.ts';
import { sourceKinds } from './source-kinds.ts';

/** Shapes that several operations on findings share. */
export const Severity = OneOf(severities, { description: 'Severity from the source, unless a person overrode it' });
export const Status = OneOf(statuses, { description: 'Status of the finding' });
export const AssetType = OneOf(assetTypes, { description: 'Type of the asset' });
export const SourceKind = OneOf(sourceKinds, { description: 'Uploaded reports, a connection, or a person' });
export const Assurance = OneOf(assurances, { description: 'How well the closure is proven' });
export const Tag = Text(1, 100, { description: 'Tag', examples: ['payments'] });
export const Justification = OneOf(justifications, { description: 'Why the finding does not apply, in VEX vocabulary' });

/** A filter with several values, of which one must match. */
export const Multi = <T extends Parameters<typeof Type.Array>[0]>(item: T, description: string, examples?: unknown[]) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: 50, description, ...(examples ? { examples: [examples] } : {}) }));

export const ReasonCode = OneOf(reasonCodes, {
  description: `Why the status last changed: ${Object.entries(reasonSentences)
    .map(([code, sentence]) => `\`${code}\` ${sentence}`)
    .join(' ')}`,
});

export const DecisionScope = OneOf(['places', 'finding'] as const, {
  description: 'What the decision covers: the `places` that were known when it was made, or the whole `finding`',
});
const When = (description: string) => Nullable({ ...Timestamp, description });

export const Acceptance = Nullable(
  Type.Object(
    {
      state: OneOf(['requested', 'active'] as const, { description: '`requested` until a second person approves it, under the four-eyes policy' }),
      owner: Type.String({ description: 'Who is responsible for the risk' }),
      expires_at: { ...Timestamp, description: 'When the acceptance ends' },
      reason: Nullable(Type.String({ description: 'Why the risk is accepted' })),
      compensating_control: Nullable(Type.String({ description: 'What lowers the risk while it is accepted' })),
      requested_by: PersonRef('Who accepted the risk, or requested it'),
      requested_at: When('When it was accepted or requested'),
      approved_by: PersonRef('The second person who approved it. null without the four-eyes policy'),
      approved_at: When('When it was approved'),
    },
    { description: 'Acceptance of the risk: the active one, else the one that waits for approval', examples: [null] },
  ),
);

export const Decision = Named('Decision', {
  id: Id,
  kind: OneOf(['acceptance', 'false_positive'] as const, { description: 'What was decided' }),
  state: OneOf(['requested', 'active', 'rejected', 'void', 'ended'] as const, {
    description: 'State of the decision. `void`: the request was withdrawn or replaced, or the finding was closed before it was approved',
  }),
  scope: DecisionScope,
  decided_by: PersonRef('Who made or requested the decision'),
  approved_by: PersonRef('Who approved or rejected it. null if no second person was needed'),
  reason: Nullable(Type.String({ description: 'Reason for the decision', examples: ['not reachable from outside'] })),
  approval_reason: Nullable(Type.String({ description: 'Reason of the person who approved, rejected or withdrew it', examples: [null] })),
  owner: Nullable(Type.String({ description: 'Who is responsible for the risk', examples: ['Grace Hopper'] })),
  expires_at: When('When the acceptance ends'),
  compensating_control: Nullable(Type.String({ description: 'What lowers the risk while it is accepted', examples: ['a firewall blocks the port'] })),
  justification: Nullable(Justification),
  severity: { ...Severity, description: 'Severity when it was decided' },
  kev: Type.Boolean({ description: 'Whether CISA listed the vulnerability as known to be exploited when it was decided', examples: [false] }),
  requested_at: { ...Timestamp, description: 'When the decision was made or requested' },
  decided_at: When('When it became active or was rejected'),
  ended_at: When('When it ended or became void'),
  ended_reason: Nullable(
    Type.String({ description: 'Why it ended: a `reason_code`, `replaced` by another decision, or `withdrawn` by whoever requested it', examples: [null] }),
  ),
});

export const AssetRef = Named('AssetRef', {
  id: Id,
  type: AssetType,
  name: Type.String({ description: 'Name of the asset', examples: ['registry.example.com/shop:1.4'] }),
  criticality: OneOf(criticalities, { description: 'How important the asset is to the organization' }),
  exposure: OneOf(exposures, { description: 'Where the asset can be reached from' }),
});

const text = (description: string, example: string | null) => Nullable(Type.String({ description, examples: [example] }));
const number = (description: string) => Nullable(Type.Integer({ description, examples: [null] }));

export const Location = Named('Location', {
  component: text('Package or product', 'log4j-core'),
  version: text('Installed version of the component', '2.14.1'),
  fixed_version: text('First version without the weakness. Several versions are separated by ", "', '2.17.1'),
  purl: text('Package URL of the component', 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'),
  path: text('File, with "/" as separator', 'app/lib/log4j-core-2.14.1.jar'),
  line: number('First line in the file'),
  end_line: number('Last line in the file'),
  port: number('Network port'),
  protocol: text('Protocol on the port', null),
  url: text('URL of the page or endpoint', null),
  method: text('HTTP method', null),
  parameter: text('Request parameter', null),
  resource: text('Resource in code or cloud, for example `aws_s3_bucket.logs` or an ARN', null),
});

export const Cvss = Nullable(
  Type.Object(
    {
      version: Nullable(Type.String({ description: 'CVSS version', examples: ['3.1'] })),
      vector: Nullable(Type.String({ description: 'CVSS vector. `null` if the sources state only a score' })),
      score: Type.Number({ description: 'Base score from 0 to 10, computed from the vector if there is one' }),
    },
    {
      description: 'CVSS rating of the most recent CVSS version that is known',
      examples: [{ version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    },
  ),
);

export const Epss = Nullable(
  Type.Object(
    {
      score: Type.Number({ description: 'Probability of exploitation in the next 30 days, from 0 to 1' }),
      percentile: Nullable(Type.Number({ description: 'Share of all vulnerabilities with a lower or equal score, from 0 to 1' })),
      date: Nullable(Type.String({ description: 'Date of the score' })),
    },
    { description: 'EPSS score from FIRST', examples: [{ score: 0.94, percentile: 0.999, date: '2026-11-14' }] },
  ),
);

export const Kev = Type.Object(
  {
    listed: Type.Boolean({
      description: "Whether the vulnerability is known to be exploited: it is in CISA's catalog, or CISA's SSVC decision or a report says so",
    }),
    due_date: Nullable(Type.String({ description: 'Date by which CISA requires agencies to remediate' })),
  },
  { description: "CISA's catalog of known exploited vulnerabilities", examples: [{ listed: true, due_date: '2021-12-24' }] },
);

export const Source = Named('Source', {
  id: Id,
  kind: SourceKind,
  provider: Type.String({ description: 'Report format or provider of the connection. `manual` for people', examples: ['trivy'] }),
  tool: Type.String({ description: 'The tool that wrote the report, for formats that many tools write (SARIF, CycloneDX). Otherwise empty', examples: [''] }),
  name: Type.String({ description: 'Name of the scan, which separates several scans with one tool. Otherwise empty', examples: [''] }),
  connection_id: Nullable({ ...Id, description: 'The connection that the source belongs to', examples: [null] }),
});

export const WorkItemRef = Named('WorkItemRef', {
  id: Id,
  title: Type.String({ description: 'Title of the work item', examples: ['Upgrade log4j in the shop'] }),
  status: Type.String({ description: 'Status of the work item', examples: ['in_progress'] }),
  assignee: Nullable(Type.String({ description: 'E-mail address of a member, or any other name', examples: ['ada@example.com'] })),
  linked_at: { ...Timestamp, description: 'When the finding was linked to the work item' },
});
