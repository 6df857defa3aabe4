/** Editions of one tool, which have the same rules. */
const EDITION = /^(semgrep) (?:oss|pro|code)$/;

/** The tool as its own formats name it, so that its reports in both formats are about the same findings. */
export function toolOf(driver: string): string {
  return driver.toLowerCase().replace(EDITION, '$1');
}
