import type { Asset, Cvss, Location, Observation, ReportFormat, ReportHead, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { aboutPages, startAbout } from '../../shared/about.ts';
import { availability, imageAsset, instanceAsset, packageLocations, resourceAsset } from '../../shared/aws.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, idsIn, observation, record, required, severityOf } from '../../shared/normalize.ts';
import { epssOf, ratingOf, uniqueRatings } from '../../shared/ratings.ts';
import { arr, count, date, type Obj, obj, str, strs } from '../../shared/read.ts';

const OWN_FIELD = /"findingArn"\s*:/;
/** Security Hub keeps its findings under the same key. */
const SECURITY_HUB = /"ProductArn"\s*:/;

export const awsInspector2: ReportFormat = {
  id: 'aws_inspector2',
  name: 'Amazon Inspector',
  description: 'Amazon Inspector findings: the output of `aws inspector2 list-findings`, or a findings report exported as JSON',
  documentation: 'https://docs.aws.amazon.com/inspector/v2/APIReference/API_Finding.html',
  expects: 'a JSON object with findings, each with findingArn and type',
  assetType: 'cloud_resource',
  detect: (head) =>
    OWN_FIELD.test(head.text) && !SECURITY_HUB.test(head.text) && (hasKeys(head, 'findings') || hasKeys(head, 'findingArn') || hasKeys(head, 'detail')),
  about: async (input) =>
    awsInspector2.detect(await headOf(input)) ? aboutPages(input, { next: 'nextToken', items: ['findings.*.findingArn'] }) : startAbout().about(),
  async *read(input) {
    const head = await headOf(input);
    for await (const found of jsonValues(input, patternsOf(head))) yield* readFinding(found);
  },
};

function patternsOf(head: ReportHead): string[] {
  if (SECURITY_HUB.test(head.text)) throw notThisFormat(awsInspector2.expects);
  if (hasKeys(head, 'findings')) return ['findings.*'];
  if (hasKeys(head, 'findingArn') || /^\s*\[\s*\]/.test(head.text)) return head.jsonShape === 'array' ? ['*'] : [''];
  if (hasKeys(head, 'detail') && OWN_FIELD.test(head.text)) return ['detail'];
  throw notThisFormat(awsInspector2.expects);
}

function* readFinding(found: JsonValue): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) yield { rejection: { place, reason: found.error } };
  else yield* record(place, () => findingsOf(obj(found.value), place));
}

/** One observation per affected resource and package. */
function findingsOf(finding: Obj, place: string): Observation[] {
  const arn = required(str(finding.findingArn), 'findingArn');
  const type = str(finding.type);
  const recommendation = obj(obj(finding.remediation).recommendation);
  const status = str(finding.status);
  const details = detailsOf(finding);
  const common = {
    place,
    tool: 'inspector',
    rule: details.rule ?? type ?? 'finding',
    external_id: arn,
    title: required(str(finding.title) ?? details.rule, 'title'),
    description: [str(finding.description), details.text].filter(Boolean).join('\n\n'),
    solution: [...new Set([str(recommendation.text), ...details.remediations])].filter((text) => text && text !== 'None Provided').join('\n'),
    severity: severityOf(str(finding.severity)),
    tool_severity: str(finding.severity),
    vulnerability_ids: details.ids,
    cwes: details.cwes,
    cvss: cvssOf(finding),
    references: [...details.references, ...strs(recommendation.Url ?? recommendation.url)],
    present: status !== 'CLOSED',
    suppressed: status === 'SUPPRESSED',
    first_seen: date(finding.firstObservedAt),
    last_seen: date(finding.lastObservedAt),
    tags: [type ?? []].flat(),
    epss: epssOf(obj(finding.epss).score),
    ...availability(str(finding.exploitAvailable), str(finding.fixAvailable)),
  };
  const resources = arr(finding.resources).map(obj);
  return (resources.length === 0 ? [{}] : resources).flatMap((resource: Obj) =>
    details.locations.map((location) => {
      const ecosystem = location.ecosystem ?? (location.component === undefined ? undefined : systemOf(resource));
      return observation({ ...common, asset: assetOf(resource, finding), location: { ...location, ecosystem, resource: str(resource.id) } });
    }),
  );
}

/** Packages of the operating system have the manager "OS". The platform says which one it is: "AMAZON_LINUX_2", "UBUNTU_22_04". */
function systemOf({ details }: Obj): string | undefined {
  const { awsEc2Instance, awsEcrContainerImage } = obj(details);
  const platform = str(obj(awsEc2Instance).platform) ?? str(obj(awsEcrContainerImage).platform);
  return ecosystemOf(platform?.split('_')[0]);
}

interface Details {
  rule: string | undefined;
  ids: string[];
  cwes: number[];
  references: string[];
  remediations: string[];
  text: string | undefined;
  locations: { [Key in keyof Location]?: Location[Key] | undefined }[];
}

function detailsOf(finding: Obj): Details {
  const none: Details = { rule: undefined, ids: [], cwes: [], references: [], remediations: [], text: undefined, locations: [{}] };
  const vulnerability = obj(finding.packageVulnerabilityDetails);
  if (Object.keys(vulnerability).length > 0) return { ...none, ...packageDetails(vulnerability) };
  const code = obj(finding.codeVulnerabilityDetails);
  if (Object.keys(code).length > 0) return { ...none, ...codeDetails(code) };
  const network = obj(finding.networkReachabilityDetails);
  const range = obj(network.openPortRange);
  return { ...none, ids: idsIn(str(finding.title)), locations: [{ port: count(range.begin), protocol: str(network.protocol)?.toLowerCase() }] };
}

function packageDetails(details: Obj): Partial<Details> {
  const id = str(details.vulnerabilityId);
  const packages = arr(details.vulnerablePackages).map(obj);
  const known = packages.map(({ name, version, epoch, release, fixedInVersion, filePath: path, packageManager, sourceLayerHash }) => ({
    name: str(name),
    version: str(version),
    epoch: str(epoch),
    release: str(release),
    fixed: str(fixedInVersion),
    path: filePath(str(path)),
    manager: str(packageManager),
    layer: str(sourceLayerHash),
  }));
  return {
    rule: id,
    ids: [id ?? [], strs(details.relatedVulnerabilities)].flat(),
    references: [strs(details.sourceUrl), strs(details.referenceUrls)].flat(),
    remediations: packages.flatMap(({ remediation }) => str(remediation) ?? []),
    locations: known.length === 0 ? [{}] : packageLocations(known),
  };
}

function codeDetails(details: Obj): Partial<Details> {
  const file = obj(details.filePath);
  return {
    rule: str(details.ruleId) ?? str(details.detectorId),
    cwes: cwesOf(strs(details.cwes)),
    references: strs(details.referenceUrls),
    text: str(details.detectorName),
    locations: [{ path: filePath(str(file.filePath) ?? str(file.fileName)), line: count(file.startLine), end_line: count(file.endLine) }],
  };
}

function cvssOf(finding: Obj): Cvss[] {
  const adjusted = obj(obj(finding.inspectorScoreDetails).adjustedCvss);
  const all = [...arr(obj(finding.packageVulnerabilityDetails).cvss).map(obj), { ...adjusted, baseScore: adjusted.score }];
  return uniqueRatings(all.flatMap(({ scoringVector, baseScore, version }) => ratingOf(scoringVector, baseScore, str(version))));
}

function assetOf(resource: Obj, finding: Obj): Asset | null {
  const id = str(resource.id);
  if (id === undefined) return null;
  const known = { id, account: str(finding.awsAccountId), region: str(resource.region) };
  const details = obj(resource.details);
  switch (str(resource.type)) {
    case 'AWS_EC2_INSTANCE': {
      const { ipV4Addresses, ipV6Addresses } = obj(details.awsEc2Instance);
      return instanceAsset(known, [...strs(ipV4Addresses), ...strs(ipV6Addresses)]);
    }
    case 'AWS_ECR_CONTAINER_IMAGE': {
      const { registry, repositoryName, imageHash, imageTags } = obj(details.awsEcrContainerImage);
      return imageAsset(known, { registry: str(registry), repository: str(repositoryName), digest: str(imageHash), tags: strs(imageTags) });
    }
    case 'CODE_REPOSITORY':
      return { type: 'repository', name: str(obj(details.codeRepository).projectName) ?? id };
    case 'Microsoft.Compute/virtualMachines':
      return { type: 'host', name: id.split('/').at(-1) || id, identifiers: [{ kind: 'cloud_id', value: id }] };
    default:
      return resourceAsset(known);
  }
}
