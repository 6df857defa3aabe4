import type { Asset, Cvss, Observation, ReportFormat, ReportHead, ReportItem, Severity } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { cloudPlace } from '../../names/cloud.ts';
import { availability, imageAsset, instanceAsset, packageLocations, resourceAsset } from '../../shared/aws.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, idsIn, observation, record, required, severityOf } from '../../shared/normalize.ts';
import { epssOf, ratingOf, uniqueRatings } from '../../shared/ratings.ts';
import { arr, count, date, num, type Obj, obj, str, strs } from '../../shared/read.ts';
import { aboutProducts, isProwler, productOf } from './product.ts';

const OWN_FIELD = /"ProductArn"\s*:/;
const LISTS = ['Findings', 'findings'] as const;

export const awsSecurityHub: ReportFormat = {
  id: 'aws_security_hub',
  name: 'AWS Security Hub (ASFF)',
  description:
    'AWS Security Finding Format (ASFF): the output of `aws securityhub get-findings`, EventBridge events, and tools with ASFF output such as Prowler',
  documentation: 'https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-findings-format-syntax.html',
  expects: 'ASFF: a JSON array of findings with ProductArn, or an object with Findings (or findings, or detail.findings)',
  assetType: 'cloud_resource',
  detect: (head) => OWN_FIELD.test(head.text) && (hasKeys(head, 'ProductArn', 'Id') || LISTS.some((list) => hasKeys(head, list)) || hasKeys(head, 'detail')),
  about: async (input) => aboutProducts(input, patternsOf(await headOf(input))),
  async *read(input) {
    const head = await headOf(input);
    for await (const found of jsonValues(input, patternsOf(head))) yield* readFinding(found);
  },
};

function patternsOf(head: ReportHead): string[] {
  if (/"findingArn"\s*:/.test(head.text) && !OWN_FIELD.test(head.text)) throw notThisFormat(awsSecurityHub.expects);
  if (LISTS.some((list) => hasKeys(head, list))) return LISTS.map((list) => `${list}.*`);
  if (/^\s*\[\s*\]/.test(head.text)) return ['*'];
  if (!OWN_FIELD.test(head.text)) throw notThisFormat(awsSecurityHub.expects);
  if (head.jsonShape === 'array') return ['*'];
  return hasKeys(head, 'ProductArn') ? [''] : ['detail.findings.*'];
}

function* readFinding(found: JsonValue): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) yield { rejection: { place, reason: found.error } };
  else yield* record(place, () => findingsOf(obj(found.value), place));
}

/** One observation per vulnerable package. Only the first resource is affected, the others are related to it. */
function findingsOf(finding: Obj, place: string): Observation[] {
  const fields = obj(finding.ProductFields);
  const vulnerabilities = arr(finding.Vulnerabilities).map(obj);
  const resources = arr(finding.Resources).map(obj);
  const recommendation = obj(obj(finding.Remediation).Recommendation);
  const title = required(str(finding.Title), 'Title');
  const severity = severityIn(finding);
  const trivy = obj(obj(resources[0]?.Details).Other);
  const packages = [...vulnerabilities.flatMap(packagesOf), ...trivyPackage(trivy)];
  const code = vulnerabilities.flatMap(({ CodeVulnerabilities }) => arr(CodeVulnerabilities).map(obj));
  const others = resources.slice(1).flatMap(({ Id }) => str(Id) ?? []);
  const id = required(str(finding.Id), 'Id');
  const resource = cloudPlace({ id: str(resources[0]?.Id), region: str(resources[0]?.Region) ?? str(finding.Region) });
  const common = {
    place,
    tool: required(productOf(finding), 'ProductArn'),
    rule: ruleOf(finding, fields, vulnerabilities),
    // Trivy uses the same id for all packages with a vulnerability.
    external_id: [id, str(trivy.PkgName)].filter(Boolean).join('/'),
    title,
    description: [str(finding.Description), others.length > 0 ? `Further resources: ${others.join(', ')}` : undefined].filter(Boolean).join('\n\n'),
    solution: str(recommendation.Text) === 'None Provided' ? null : str(recommendation.Text),
    ...severity,
    vulnerability_ids: idsOf(title, vulnerabilities),
    cwes: cwesOf(code.map(({ Cwes }) => strs(Cwes))),
    cvss: [...vulnerabilities.flatMap(cvssOf), ...trivyCvss(trivy)],
    references: [
      ...[recommendation.Url, finding.SourceUrl].flatMap(strs),
      ...vulnerabilities.flatMap(({ Vendor, ReferenceUrls }) => [...strs(obj(Vendor).Url), ...strs(ReferenceUrls)]),
    ],
    asset: assetOf(resources[0], finding),
    ...stateOf(finding),
    first_seen: date(finding.FirstObservedAt) ?? date(finding.CreatedAt),
    last_seen: date(finding.LastObservedAt) ?? date(finding.UpdatedAt),
    tags: [...strs(finding.Types), ...strs(resources[0]?.Type)],
    epss: epssOf(vulnerabilities.map(({ EpssScore }) => EpssScore).find((score) => score !== undefined) ?? finding.EpssScore),
    ...availability(str(vulnerabilities[0]?.ExploitAvailable), str(vulnerabilities[0]?.FixAvailable)),
  };
  const locations = packages.length === 0 ? [{}] : packageLocations(packages);
  return locations.map((location) => observation({ ...common, location: { ...location, ...codeLocation(code[0]), resource } }));
}

/** Trivy's template for ASFF writes the package and its scores into `Details.Other`. */
function trivyPackage(other: Obj) {
  const name = str(other.PkgName);
  if (name === undefined) return [];
  const unknown = { epoch: undefined, release: undefined, path: undefined };
  return [{ name, version: str(other['Installed Package']), fixed: str(other['Patched Package']), ...unknown }];
}

function trivyCvss(other: Obj): Cvss[] {
  return [...ratingOf(other.NvdCvssVectorV3, other.NvdCvssScoreV3, '3.1'), ...ratingOf(other.NvdCvssVectorV2, other.NvdCvssScoreV2, '2.0')];
}

function ruleOf(finding: Obj, fields: Obj, vulnerabilities: readonly Obj[]): string {
  const control = str(obj(finding.Compliance).SecurityControlId) ?? str(fields.ControlId) ?? str(fields.RuleId);
  const named = strs(finding.Types).some((type) => type.endsWith('/Vulnerabilities/CVE')) ? idsIn(str(finding.Title))[0] : undefined;
  return str(vulnerabilities[0]?.Id) ?? control ?? named ?? generatorOf(finding);
}

/** Prowler has its name before that of the check, but only here. */
function generatorOf(finding: Obj): string {
  const generator = required(str(finding.GeneratorId), 'GeneratorId');
  return isProwler(finding) ? generator.replace(/^prowler-/, '') : generator;
}

/** Some Inspector findings name their vulnerability only in the title. */
function idsOf(title: string, vulnerabilities: readonly Obj[]): string[] {
  const ids = vulnerabilities.flatMap(({ Id, RelatedVulnerabilities }) => [...strs(Id), ...strs(RelatedVulnerabilities)]);
  return ids.length > 0 ? ids : idsIn(title);
}

function severityIn(finding: Obj): { severity: Severity; tool_severity: string | undefined } {
  const given = obj(finding.Severity);
  const label = str(given.Label) ?? str(obj(obj(finding.FindingProviderFields).Severity).Label);
  if (label !== undefined) return { severity: severityOf(label), tool_severity: label };
  const normalized = num(given.Normalized);
  return { severity: severityOfNormalized(normalized), tool_severity: str(given.Original) ?? str(given.Normalized) ?? str(given.Product) };
}

function severityOfNormalized(value: number | undefined): Severity {
  if (value === undefined || value < 0 || value > 100) return 'unknown';
  if (value >= 90) return 'critical';
  if (value >= 70) return 'high';
  if (value >= 40) return 'medium';
  return value >= 1 ? 'low' : 'info';
}

function stateOf(finding: Obj): { present: boolean; suppressed: boolean } {
  const workflow = str(obj(finding.Workflow).Status) ?? str(finding.WorkflowState);
  const gone = str(finding.RecordState) === 'ARCHIVED' || workflow === 'RESOLVED' || str(obj(finding.Compliance).Status) === 'PASSED';
  return { present: !gone, suppressed: workflow === 'SUPPRESSED' || /^(?:FALSE|BENIGN)_POSITIVE$/.test(str(finding.VerificationState) ?? '') };
}

function packagesOf({ VulnerablePackages }: Obj) {
  return arr(VulnerablePackages)
    .map(obj)
    .map(({ Name, Version, Epoch, Release, FixedInVersion, FilePath, PackageManager, SourceLayerHash }) => ({
      name: str(Name),
      version: str(Version),
      epoch: str(Epoch),
      release: str(Release),
      fixed: str(FixedInVersion),
      path: filePath(str(FilePath)),
      manager: str(PackageManager),
      layer: str(SourceLayerHash),
    }));
}

function codeLocation(code: Obj | undefined) {
  if (code === undefined) return {};
  const file = obj(code.FilePath);
  return { path: filePath(str(file.FilePath) ?? str(file.FileName)), line: count(file.StartLine), end_line: count(file.EndLine) };
}

function cvssOf({ Cvss }: Obj): Cvss[] {
  return uniqueRatings(
    arr(Cvss)
      .map(obj)
      .flatMap(({ BaseVector, BaseScore, Version }) => ratingOf(BaseVector, BaseScore, str(Version))),
  );
}

function assetOf(resource: Obj | undefined, finding: Obj): Asset | null {
  const id = str(resource?.Id);
  if (resource === undefined || id === undefined) return null;
  const known = { id, account: str(finding.AwsAccountId), region: str(resource.Region) };
  const details = obj(resource.Details);
  // In its other formats, Prowler does not say whether a resource is a host or an image.
  if (isProwler(finding)) return resourceAsset(known);
  switch (str(resource.Type)) {
    case 'AwsEc2Instance': {
      const { IpV4Addresses, IpV6Addresses } = obj(details.AwsEc2Instance);
      return instanceAsset(known, [...strs(IpV4Addresses), ...strs(IpV6Addresses)]);
    }
    case 'AwsEcrContainerImage': {
      const { RegistryId, RepositoryName, ImageDigest, ImageTags } = obj(details.AwsEcrContainerImage);
      return imageAsset(known, { registry: str(RegistryId), repository: str(RepositoryName), digest: str(ImageDigest), tags: strs(ImageTags) });
    }
    case 'Container':
      return { type: 'container_image', name: str(obj(details.Container).ImageName) ?? str(obj(details.Container).ImageId) ?? id };
    default:
      return resourceAsset(known);
  }
}
