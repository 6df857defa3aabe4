import type { Asset, Observation, ReportItem } from '@rrs/scan-reports';
import { repositoryAsset } from '@rrs/scan-reports/normalize.ts';
import { arr, date, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { itemsOf } from '../../core/reports.ts';

/** Converts vulnerabilities of the GraphQL API to the report format, so that both are read the same way. */
export async function readVulnerabilities(nodes: readonly unknown[], where: string): Promise<ReportItem[]> {
  const report = { version: '15.0.0', scan: {}, vulnerabilities: nodes.map((node) => entryOf(obj(node))) };
  const items = await itemsOf('gitlab', JSON.stringify(report), where);
  return items.map((item, n) => ('rejection' in item ? item : { observation: completed(item.observation, obj(nodes[n])) }));
}

function entryOf(node: Obj): Obj {
  const scanner = obj(node.scanner);
  return {
    category: str(node.reportType)?.toLowerCase(),
    name: node.title,
    description: node.description,
    solution: node.solution,
    severity: node.severity,
    scanner: { id: scanner.externalId, name: scanner.name },
    identifiers: arr(node.identifiers)
      .map(obj)
      .map(({ externalType, externalId, name, url }) => ({ type: externalType, value: externalId, name, url })),
    links: node.links,
    location: locationOf(obj(node.location)),
  };
}

function locationOf({ startLine, endLine, vulnerableClass, vulnerableMethod, crashType, requestMethod, kubernetesResource, ...same }: Obj): Obj {
  const { containerName, ...workload } = obj(kubernetesResource);
  return {
    ...same,
    start_line: startLine,
    end_line: endLine,
    class: vulnerableClass,
    method: vulnerableMethod ?? requestMethod,
    crash_type: crashType ?? undefined,
    kubernetes_resource: { ...workload, container_name: containerName },
  };
}

/** Adds what a report does not contain: the project and the state of the finding. */
function completed(observation: Observation, node: Obj): Observation {
  const state = str(node.state)?.toUpperCase();
  const isPresent = state !== 'RESOLVED' && node.resolvedOnDefaultBranch !== true;
  return {
    ...observation,
    external_id: str(node.uuid) ?? str(node.id) ?? null,
    asset: observation.asset ?? projectAsset(node.project),
    present: isPresent,
    suppressed: isPresent && state === 'DISMISSED',
    first_seen: date(node.detectedAt),
    references: [...strs(node.webUrl), ...observation.references],
    tags: [...observation.tags, ...strs(node.dismissalReason).map((reason) => reason.toLowerCase())],
  };
}

export function projectAsset(project: unknown): Asset | null {
  return repositoryAsset(str(obj(project).webUrl));
}
