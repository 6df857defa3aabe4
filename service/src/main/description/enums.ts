import { connectorKinds, ticketStates } from '@rrs/connectors';
import { CONCLUSIONS, GAP_CODES, GAP_WEIGHTS, GRADES, PACKAGE_FORMATS } from '@rrs/evidence-format';
import { assetTypes, exploitMaturities, fixStates, formats, severities } from '@rrs/scan-reports';
import { criticalities, exposures } from '../../assets/values.ts';
import { eventPatterns } from '../../events/types.ts';
import { artifactTypes } from '../../evidence/schemas.ts';
import { packageStatuses } from '../../evidence/schemas-packages.ts';
import { stillOpenCodes } from '../../findings/details/still-open.ts';
import { reasonCodes } from '../../findings/reason-codes.ts';
import { importStatuses } from '../../findings/schemas.ts';
import { changeKinds } from '../../findings/schemas-imports.ts';
import { assurances, statuses as findingStatuses, justifications } from '../../findings/status.ts';
import { problemKinds } from '../../http/problems.ts';
import { healthStatuses, runStatuses, syncStatuses } from '../../integrations/schemas.ts';
import { permissionsOf, roles } from '../../shared/permissions.ts';
import { settableStatuses, statuses as workItemStatuses } from '../../work-items/items/status.ts';

/** Lists of values that have a name in the published description, and so in clients that are generated from it. */
export const enums: Readonly<Record<string, readonly string[]>> = {
  ArtifactType: artifactTypes,
  Assurance: assurances,
  AssetType: assetTypes,
  Conclusion: CONCLUSIONS,
  ConnectorKind: connectorKinds,
  EventPattern: eventPatterns,
  ExploitMaturity: exploitMaturities,
  Exposure: exposures,
  FindingStatus: findingStatuses,
  FixState: fixStates,
  GapCode: GAP_CODES,
  GapWeight: GAP_WEIGHTS,
  Grade: GRADES,
  HealthStatus: healthStatuses,
  ImportChangeKind: changeKinds,
  ImportStatus: importStatuses,
  Justification: justifications,
  Level: criticalities,
  PackageFormat: PACKAGE_FORMATS,
  PackageStatus: packageStatuses,
  Permission: permissionsOf('owner'),
  ProblemCode: Object.keys(problemKinds),
  ReasonCode: reasonCodes,
  ReportFormat: formats.map(({ id }) => id),
  Role: roles,
  RunStatus: runStatuses,
  SettableWorkItemStatus: settableStatuses,
  Severity: severities,
  StillOpenCode: stillOpenCodes,
  SyncStatus: syncStatuses,
  TicketState: ticketStates,
  WorkItemStatus: workItemStatuses,
};
