import type { Asset, Cvss, Observation } from '../../contract.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { fixStateOf, ratingOf } from '../../shared/ratings.ts';
import { count, type Obj, obj, str, strs } from '../../shared/read.ts';

export type FindingKind = 'vulnerability' | 'misconfiguration' | 'secret' | 'license';

export interface Target {
  asset: Asset | null;
  inCluster: boolean;
  target: string | undefined;
  type: string | undefined;
  class: string | undefined;
  created: Date | null;
  /** Source packages by name of the system package. */
  sources: ReadonlyMap<string, string>;
}

export function isFinding(type: string | undefined): type is FindingKind {
  return type !== undefined && Object.hasOwn(readers, type);
}

export const readers: Readonly<Record<FindingKind, (entry: Obj, place: string, target: Target) => Observation | null>> = {
  vulnerability: (entry, place, target) => {
    const id = required(str(entry.VulnerabilityID), 'VulnerabilityID');
    const component = required(str(entry.PkgName), 'PkgName');
    const purl = str(obj(entry.PkgIdentifier).PURL);
    const layer = obj(entry.Layer);
    return observation({
      place,
      tool: 'trivy',
      rule: id,
      // Trivy's Fingerprint depends on the image id and package version, so it changes with each build and cannot be the external id.
      title: str(entry.Title) ?? `${id} in ${component}`,
      description: str(entry.Description),
      severity: severityOf(str(entry.Severity)),
      tool_severity: str(entry.Severity),
      vulnerability_ids: [id, ...idsIn(...strs(entry.VendorIDs))],
      cwes: cwesOf(strs(entry.CweIDs)),
      cvss: cvssOf(obj(entry.CVSS), str(entry.SeveritySource)),
      references: [...strs(entry.PrimaryURL), ...strs(entry.References)],
      asset: target.asset,
      location: {
        component,
        version: str(entry.InstalledVersion),
        fixed_version: str(entry.FixedVersion),
        purl,
        ecosystem: purl === undefined ? ecosystemOf(target.type) : undefined,
        source_package: target.class === 'lang-pkgs' ? undefined : target.sources.get(component),
        layer: str(layer.DiffID) ?? str(layer.Digest),
        path: filePath(str(entry.PkgPath) ?? fileOf(target)),
        resource: target.inCluster ? imageOf(target.target) : undefined,
      },
      // "fixed" means that a fixed version exists, not that this package is fixed. "not_affected" is a judgement of the supplier.
      suppressed: str(entry.Status) === 'not_affected',
      last_seen: target.created,
      tags: [target.type, target.class].flatMap((tag) => tag ?? []),
      severity_source: str(entry.SeveritySource),
      fix_state: fixStateOf(str(entry.Status)),
    });
  },
  misconfiguration: (entry, place, target) => {
    const status = str(entry.Status)?.toUpperCase();
    if (status === 'PASS') return null;
    const rule = required(str(entry.ID) ?? str(entry.AVDID), 'ID');
    const cause = obj(entry.CauseMetadata);
    return observation({
      place,
      tool: 'trivy',
      rule,
      title: str(entry.Title) ?? rule,
      description: [str(entry.Description), str(entry.Message)].filter(Boolean).join('\n\n'),
      solution: str(entry.Resolution),
      severity: severityOf(str(entry.Severity)),
      tool_severity: str(entry.Severity),
      references: [...strs(entry.PrimaryURL), ...strs(entry.References)],
      asset: target.asset,
      location: {
        path: target.inCluster ? undefined : filePath(target.target),
        line: count(cause.StartLine),
        end_line: count(cause.EndLine),
        resource: str(cause.Resource) ?? (target.inCluster ? target.target : undefined),
      },
      suppressed: status === 'EXCEPTION',
      last_seen: target.created,
      tags: [str(entry.Type) ?? target.type, target.class].flatMap((tag) => tag ?? []),
    });
  },
  // Match and Code contain the line with the secret and are not read.
  secret: (entry, place, target) => {
    const rule = required(str(entry.RuleID), 'RuleID');
    return observation({
      place,
      tool: 'trivy',
      rule,
      title: str(entry.Title) ?? rule,
      severity: severityOf(str(entry.Severity)),
      tool_severity: str(entry.Severity),
      cwes: [798],
      asset: target.asset,
      location: { path: filePath(target.target), line: count(entry.StartLine), end_line: count(entry.EndLine) },
      last_seen: target.created,
      tags: ['secret', ...strs(entry.Category)],
    });
  },
  license: (entry, place, target) => {
    const license = required(str(entry.Name), 'Name');
    const component = str(entry.PkgName);
    return observation({
      place,
      tool: 'trivy',
      rule: `license:${license}`,
      title: component ? `License ${license} of ${component}` : `License ${license}`,
      severity: severityOf(str(entry.Severity)),
      tool_severity: str(entry.Severity),
      references: strs(entry.Link),
      asset: target.asset,
      location: { component, path: filePath(str(entry.FilePath) ?? fileOf(target)) },
      last_seen: target.created,
      tags: ['license', ...strs(entry.Category)],
    });
  },
};

/** Applies the status that .trivyignore, a policy or a VEX document gives to a finding (`--show-suppressed`). */
export function withStatus(found: Observation | null, { Status, Statement }: Obj): Observation | null {
  if (found === null) return null;
  const status = str(Status);
  const state = status === 'fixed' ? 'resolved' : status === 'not_affected' ? status : undefined;
  const analysis = { ...(state ? { state } : {}), ...(str(Statement) ? { detail: str(Statement) as string } : {}) };
  const analysed = Object.keys(analysis).length === 0 ? found : observation({ ...found, analysis });
  if (status === 'fixed') return { ...analysed, present: false };
  return { ...analysed, suppressed: status === 'ignored' || status === 'not_affected' || found.suppressed };
}

/** Target names for all packages of a language or of the system, which are not files. */
const COLLECTIONS = new Set(['Node.js', 'Python', 'Java', 'Ruby', 'Conda', 'Kubernetes', 'OS Packages', 'Loose File License(s)']);

/** Returns the target if it is a lock file or a binary. */
function fileOf({ target, class: kind }: Target): string | undefined {
  if (target === undefined || COLLECTIONS.has(target) || kind === 'os-pkgs' || / \([^()]+\)$/.test(target)) return undefined;
  return kind === 'lang-pkgs' || /[\w-]\.\w+$/.test(target) ? target : undefined;
}

function imageOf(target: string | undefined): string | undefined {
  return / \([^()]+\)$/.test(target ?? '') ? target?.replace(/ \([^()]+\)$/, '') : undefined;
}

/** Sorts the source of the severity first, then NVD, then the others. */
function cvssOf(sources: Obj, severitySource: string | undefined): Cvss[] {
  const rank = (source: string): number => (source === severitySource ? 0 : source === 'nvd' ? 1 : 2);
  return Object.keys(sources)
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((source) => {
      const { V40Vector, V40Score, V3Vector, V3Score, V2Vector, V2Score } = obj(sources[source]);
      return [...ratingOf(V40Vector, V40Score, '4.0'), ...ratingOf(V3Vector, V3Score, '3.1'), ...ratingOf(V2Vector, V2Score, '2.0')];
    });
}
