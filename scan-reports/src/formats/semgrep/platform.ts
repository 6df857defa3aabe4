import type { Asset, Observation } from '../../contract.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { arr, count, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { firstSentence } from './cli.ts';

/** Code and dependency findings of the API. Secret findings have other names for the same fields. */
export function findingOf(finding: Obj, place: string): Observation {
  const rule = obj(finding.rule);
  const name = required(str(finding.rule_name) ?? str(rule.name) ?? str(finding.ruleHashId) ?? str(finding.type), 'rule_name');
  const message = str(finding.rule_message) ?? str(rule.message);
  const dependency = obj(finding.found_dependency);
  const component = str(dependency.package);
  const secret = finding.findingPath !== undefined || finding.validationState !== undefined;
  const location = obj(finding.location);
  const [, secretPath, secretLine] = /^(.*?)(?::(\d+))?$/s.exec(str(finding.findingPath) ?? '') ?? [];
  const word = str(finding.severity)?.replace(/^SEVERITY_/, '');
  const repository = obj(finding.repository);
  return observation({
    place,
    tool: 'semgrep',
    rule: name,
    external_id: str(finding.id),
    title: secret ? `Secret: ${str(finding.type) ?? name}` : (firstSentence(message) ?? name),
    description: message,
    severity: severityOf(word),
    tool_severity: str(finding.severity),
    vulnerability_ids: component ? strs(finding.vulnerability_identifier) : [],
    cwes: secret ? [798] : cwesOf(strs(rule.cwe_names)),
    references: [...strs(finding.line_of_code_url), ...strs(finding.findingPathUrl)],
    asset: repositoryAsset(str(repository.url), str(repository.name), str(finding.ref)),
    location: {
      component,
      version: str(dependency.version),
      fixed_version: versionsOf(finding.fix_recommendations, component),
      ecosystem: ecosystemOf(str(dependency.ecosystem)),
      path: filePath(str(location.file_path) ?? secretPath),
      line: count(location.line) ?? count(secretLine),
      end_line: count(location.end_line),
      fingerprint: str(finding.match_based_id),
    },
    ...stateOf([finding.status, finding.state, finding.triage_state].flatMap((value) => str(value) ?? [])),
    first_seen: date(finding.created_at ?? finding.createdAt),
    tags: [
      secret ? 'secret' : [],
      strs(finding.categories),
      strs(rule.vulnerability_classes),
      strs(finding.reachability),
      strs(dependency.transitivity),
      str(finding.validationState)
        ?.replace(/^VALIDATION_STATE_/, '')
        .toLowerCase() ?? [],
    ].flat(),
  });
}

/** Findings of the older Supply Chain API. */
export function vulnerabilityOf(entry: Obj, place: string): Observation {
  const advisory = obj(entry.advisory);
  const sources = obj(advisory.references);
  const dependency = obj(entry.matchedDependency);
  const file = obj(entry.dependencyFileLocation);
  const ids = [...strs(sources.cveIds), ...idsIn(...strs(sources.urls))];
  const rule = str(advisory.ruleId);
  return observation({
    place,
    tool: 'semgrep',
    rule: ids.length > 0 ? rule : required(rule, 'advisory.ruleId'),
    title: str(entry.title) ?? str(advisory.title) ?? rule ?? ids[0] ?? '',
    description: str(advisory.description),
    severity: severityOf(str(advisory.severity)),
    tool_severity: str(advisory.severity),
    vulnerability_ids: ids,
    cwes: cwesOf(strs(sources.cweIds)),
    references: strs(sources.urls),
    asset: repositoryAsset(/^(https?:\/\/[^?#]+?)\/(?:-\/)?(?:blame|blob)\//.exec(str(file.url) ?? '')?.[1], str(entry.repositoryName)),
    location: {
      component: str(dependency.name),
      version: exact(str(dependency.versionSpecifier)),
      fixed_version: exact(str(obj(entry.closestSafeDependency).versionSpecifier)),
      ecosystem: ecosystemOf(str(dependency.ecosystem)),
      path: filePath(str(file.path)),
      line: count(file.startLine),
    },
    ...stateOf(strs(obj(entry.triage).status)),
    first_seen: date(entry.openedAt),
    tags: [strs(entry.exposureType), strs(entry.transitivity)].flat().map((tag) => tag.toLowerCase()),
  });
}

function repositoryAsset(url: string | undefined, name: string | undefined, ref?: string): Asset | null {
  const known = url?.replace(/\.git$/, '') ?? name;
  return known ? { type: 'repository', name: known, ...(ref === undefined ? {} : { ref }) } : null;
}

function exact(specifier: string | undefined): string | undefined {
  return specifier?.replace(/^=+\s*/, '');
}

function versionsOf(recommendations: unknown, component: string | undefined): string | undefined {
  const versions = arr(recommendations)
    .map(obj)
    .filter(({ package: name }) => str(name) === component)
    .flatMap(({ version }) => strs(version));
  return versions.length > 0 ? versions.join(', ') : undefined;
}

/** Reads status, state and triage state. The newer API adds prefixes. */
function stateOf(words: readonly string[]): { present: boolean; suppressed: boolean } {
  const states = words.map((word) => word.replace(/^(?:FINDING_)?STATUS_/, '').toLowerCase());
  const some = (...wanted: string[]): boolean => states.some((state) => wanted.includes(state));
  return { present: !some('fixed', 'removed'), suppressed: some('ignored', 'provisionally_ignored', 'muted', 'dismissed') };
}
