import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { xmlElements } from '../../xml/elements.ts';
import { readJson } from './json-report.ts';
import { RETIRE } from './report.ts';
import { readXml } from './xml-report.ts';

const EXPECTS = 'XML with the root element analysis in a Dependency-Check namespace, or JSON with reportSchema, scanInfo and dependencies';

/** In these reports, the project comes before the dependencies. */
const CREDITS = new RegExp(`<credits>\\s*${RETIRE}\\s*</credits>`);

export const dependencyCheck: ReportFormat = {
  id: 'dependency_check',
  name: 'OWASP Dependency-Check',
  description: 'Output of `dependency-check --format XML|JSON` (XML of all versions) or `retire --outputformat depcheck`',
  documentation: 'https://dependency-check.github.io/DependencyCheck/general/thereport.html',
  expects: EXPECTS,
  assetType: 'repository',
  states: ['time'],
  detect: (head) => isXml(head) || isJson(head),
  async about(input) {
    const head = await headOf(input);
    const { failed, about } = startAbout(CREDITS.test(head.text) ? [RETIRE] : null);
    if (isXml(head)) for await (const _ of xmlElements(input, ['analysis/scanInfo/analysisExceptions/exception'])) failed();
    else if (isJson(head)) for await (const _ of jsonValues(input, ['scanInfo.analysisExceptions.*'])) failed();
    return about();
  },
  async *read(input) {
    const head = await headOf(input);
    if (isXml(head)) yield* readXml(input);
    else if (isJson(head)) yield* readJson(input);
    else throw notThisFormat(EXPECTS);
  },
};

function isXml({ xmlRoot, text }: ReportHead): boolean {
  return xmlRoot?.name === 'analysis' && (/dependency-?check/i.test(xmlRoot.namespace) || (text.includes('<projectInfo') && text.includes('<dependencies')));
}

function isJson(head: ReportHead): boolean {
  return head.jsonShape === 'object' && hasKeys(head, 'dependencies') && (hasKeys(head, 'reportSchema') || hasKeys(head, 'scanInfo', 'projectInfo'));
}
