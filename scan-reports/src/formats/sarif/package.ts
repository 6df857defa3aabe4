import type { Location } from '../../contract.ts';
import type { Rule } from './run.ts';

/**
 * SARIF has no place for a package. Scanners of packages say it in their message, each in a fixed form; without it the same
 * vulnerability in two packages of an image would be one.
 */
export function packageOf(tool: string, message: string | undefined, rule: Rule | undefined): Pick<Location, 'component' | 'version' | 'fixed_version'> {
  if (tool === 'trivy') return labelled(message, 'Package', 'Installed Version', 'Fixed Version');
  if (tool === 'grype') return labelled(rule?.help, 'Package', 'Version', 'Fix Version');
  if (tool === 'osv-scanner') {
    const [, component, version] = /^Package '(.+)@([^'@]+)' is vulnerable/.exec(message ?? '') ?? [];
    return known({ component, version });
  }
  return {};
}

function labelled(text: string | undefined, component: string, version: string, fixed: string) {
  const value = (label: string): string | undefined => new RegExp(`^${label}: *(\\S.*)$`, 'm').exec(text ?? '')?.[1]?.trim();
  return value(component) === undefined ? {} : known({ component: value(component), version: value(version), fixed_version: value(fixed) });
}

function known(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
