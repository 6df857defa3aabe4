import { checkov, codeql, gitlabSast, gitleaks, semgrep } from './code-tools.ts';
import { nessus, openvas, zap } from './network-tools.ts';
import { cyclonedx, dependencyCheck, grype, npmAudit, osvScanner, snyk, trivyImage, trivyRepository } from './package-tools.ts';

/** The tools, by what they look at and what their reports state. */

export const images = [trivyImage, grype, cyclonedx];
export const packages = [trivyRepository, snyk, npmAudit, osvScanner, dependencyCheck];
export const code = [semgrep, codeql, gitleaks, checkov, gitlabSast];
const network = [nessus, openvas, zap];
export const allTools = [...images, ...packages, ...code, ...network];
export const withOwnTime = allTools.filter(({ hasTime }) => hasTime);
export const withBranches = [trivyRepository, codeql];
export const withRepository = allTools.filter(({ kind }) => kind === 'repository');
export const withDamage = allTools.filter((tool) => ![npmAudit, dependencyCheck, cyclonedx].includes(tool));
