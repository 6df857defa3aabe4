import type { Location } from '../../contract.ts';
import type { Rule } from './run.ts';

type Package = Pick<Location, 'component' | 'version' | 'fixed_version'>;

/**
 * SARIF has no field for a package. Package scanners write it into their message, each in a fixed form. Without it, the same
 * vulnerability in two packages of an image would be one finding.
 */
export function packageOf(tool: string, message: string | undefined, rule: Rule | undefined): Package {
  if (tool === 'trivy') return labelled(message, 'Package', 'Installed Version', 'Fixed Version');
  if (tool === 'grype') return labelled(rule?.help, 'Package', 'Version', 'Fix Version');
  if (tool === 'osv-scanner') {
    const [, component, version] = /^Package '(.+)@([^'@]+)' is vulnerable/.exec(message ?? '') ?? [];
    return known({ component, version });
  }
  return {};
}

/** True for ids of Snyk's vulnerability database, which other Snyk reports use too. SNYK-CC ids are configuration checks. */
export function isSnykId(ruleId: string | undefined): ruleId is string {
  return /^SNYK-(?!CC-)/.test(ruleId ?? '');
}

/** Snyk writes the package as a logical location: "lodash@4.17.15", "@babel/traverse@7.0.0". */
export function snykPackage(resource: string | undefined): Package & { resource?: undefined } {
  const [, component, version] = /^(@?[^@\s]+)@([^@\s]+)$/.exec(resource ?? '') ?? [];
  return component === undefined ? {} : { ...known({ component, version }), resource: undefined };
}

function labelled(text: string | undefined, component: string, version: string, fixed: string) {
  const value = (label: string): string | undefined => new RegExp(`^${label}: *(\\S.*)$`, 'm').exec(text ?? '')?.[1]?.trim();
  return value(component) === undefined ? {} : known({ component: value(component), version: value(version), fixed_version: value(fixed) });
}

function known(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
