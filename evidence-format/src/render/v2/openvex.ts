import type { Evidence } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { describe, dispositionOf } from './dispositions.ts';
import { mapped } from './sequences.ts';

/** OpenVEX 0.2.0. A document needs at least one statement. */
export function openVex({ package_id, organization, generated_at, findings }: Evidence) {
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${package_id}`,
    author: organization.name,
    timestamp: generated_at,
    version: 1,
    tooling: 'Remediation Risk Service',
    statements: mapped(findings, statementOf),
  };
}

function statementOf(finding: Finding) {
  const { id, title, asset, cves, weakness, purl, state_changed_at, state_reason } = finding;
  const { label } = describe(finding);
  const product = {
    '@id': `urn:uuid:${asset.id}#${fragment({ type: asset.type, name: asset.name })}`,
    ...(asset.name.startsWith('pkg:') ? { identifiers: { purl: asset.name } } : {}),
    subcomponents: [{ '@id': `urn:uuid:${id}#${fragment(detailsOf(finding))}`, ...(purl === null ? {} : { identifiers: { purl } }) }],
  };
  const aliases = [...new Set(cves.slice(1))];
  return {
    '@id': `urn:uuid:${id}`,
    vulnerability: { name: cves[0] ?? weakness, description: title, ...(aliases.length === 0 ? {} : { aliases }) },
    products: [product],
    timestamp: state_changed_at,
    status_notes: `${label}${state_reason === null ? '' : `: ${state_reason}`}`,
    ...statusOf(finding),
  };
}

/** OpenVEX has no fields for these. */
function detailsOf(finding: Finding): Record<string, string | null> {
  const { weakness, severity, standing, component, component_version, fixed_version, purl } = finding;
  return { weakness, severity, standing, disposition: dispositionOf(finding), component, version: component_version, fixed_version, purl };
}

function fragment(fields: Readonly<Record<string, string | null>>): string {
  const known = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return known.map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('=')).join('&');
}

/** Justifications that both vocabularies have. The others go into the impact statement. */
const justifications: Readonly<Record<string, string>> = {
  code_not_present: 'vulnerable_code_not_present',
  code_not_reachable: 'vulnerable_code_not_in_execute_path',
  protected_by_compiler: 'inline_mitigations_already_exist',
  protected_at_runtime: 'inline_mitigations_already_exist',
  protected_at_perimeter: 'inline_mitigations_already_exist',
  protected_by_mitigating_control: 'inline_mitigations_already_exist',
};

function statusOf(finding: Finding) {
  const { openvex: status, standing, label } = describe(finding);
  const { fixed_version, justification, state_reason } = finding;
  if (status === 'not_affected') {
    const known = Object.hasOwn(justifications, justification ?? '') ? justifications[justification ?? ''] : undefined;
    return { status, ...(known === undefined ? {} : { justification: known }), impact_statement: state_reason ?? justification ?? 'No reason was given.' };
  }
  if (status !== 'affected') return { status };
  const action = fixed_version === null ? 'Remediation is not complete.' : `Update to ${fixed_version}.`;
  return { status, action_statement: standing === 'active' ? action : `${label}. The weakness is not shown to be fixed.` };
}
