import type { Observation, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, idsIn, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { arr, date, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startComponents } from '../../shared/run.ts';

const EXPECTS = 'a JSON object with version, start and data, or an array of files with results (jsonsimple)';

export const retireJs: ReportFormat = {
  id: 'retire_js',
  name: 'Retire.js',
  description: 'Output of `retire --outputformat json` or `retire --outputformat jsonsimple`',
  documentation: 'https://github.com/RetireJS/retire.js/tree/master/node',
  expects: EXPECTS,
  assetType: 'repository',
  detect: (head) => shapeOf(head) !== null && (hasKeys(head, 'version', 'start', 'data') || /"component"\s*:/.test(head.text)),
  async about(input) {
    const { failed, about } = startAbout();
    if (shapeOf(await headOf(input)) === 'object') for await (const _ of jsonValues(input, ['errors.*'])) failed();
    return about();
  },
  async *read(input) {
    const shape = shapeOf(await headOf(input));
    if (shape === null) throw notThisFormat(EXPECTS);
    const { time, version } = shape === 'object' ? await readStart(input) : { time: null, version: undefined };
    yield* runEntry({ tool_version: version, started_at: time });
    // Libraries without weaknesses are listed with `--verbose`.
    const components = startComponents();
    for await (const found of jsonValues(input, [shape === 'object' ? 'data.*' : '*'])) {
      const place = placeOf(found);
      if (found.error || !isObj(found.value)) yield { rejection: { place, reason: found.error ?? 'the record is not an object' } };
      else {
        for (const { component, version: its, vulnerabilities } of arr(found.value.results).map(obj))
          components.add({ name: str(component), version: str(its) }, arr(vulnerabilities).length === 0);
        yield* readFile(found.value, place, time);
      }
    }
    yield* runEntry({ components: components.list() });
  },
};

function shapeOf(head: ReportHead): 'object' | 'array' | null {
  if (head.jsonShape === 'object' && hasKeys(head, 'data') && (hasKeys(head, 'start') || /"data"\s*:\s*\[\s*\{\s*"(?:file|results)"/.test(head.text)))
    return 'object';
  if (head.jsonShape !== 'array') return null;
  return hasKeys(head, 'file', 'results') || (hasKeys(head, 'results') && /"component"\s*:/.test(head.text)) || /^\s*\[\s*\]\s*$/.test(head.text)
    ? 'array'
    : null;
}

async function readStart(input: ReportInput): Promise<{ time: Date | null; version: string | undefined }> {
  let time: Date | null = null;
  let version: string | undefined;
  for await (const { pattern, value } of jsonValues(input, ['start', 'version'])) {
    if (pattern === 0) time = date(value);
    else version = str(value);
  }
  return { time, version };
}

function* readFile(file: Obj, place: string, time: Date | null): Generator<ReportItem> {
  for (const [index, result] of arr(file.results).entries()) {
    for (const [number, vulnerability] of arr(obj(result).vulnerabilities).entries()) {
      const here = `${place}.results[${index}].vulnerabilities[${number}]`;
      yield* record(here, () => {
        if (!isObj(vulnerability)) throw new RecordError('the record is not an object');
        return observationOf(vulnerability, here, { result: obj(result), file: str(file.file), time });
      });
    }
  }
}

interface Context {
  /** The library that has the vulnerability. */
  result: Obj;
  file: string | undefined;
  /** Start of the scan. */
  time: Date | null;
}

function observationOf(vulnerability: Obj, place: string, { result, file, time }: Context): Observation {
  const component = required(str(result.component), 'component');
  const identifiers = obj(vulnerability.identifiers);
  const info = strs(vulnerability.info);
  const ids = [...strs(identifiers.CVE), ...strs(identifiers.githubID)].filter((id) => idsIn(id).length > 0);
  const summary = str(identifiers.summary);
  return observation({
    place,
    tool: 'retire.js',
    rule: required(ids[0] ?? namedId(identifiers) ?? summary ?? info[0], 'an identifier'),
    title: summary ?? `${ids[0] ?? 'Vulnerability'} in ${component}`,
    description: str(vulnerability.details),
    severity: severityOf(str(vulnerability.severity)),
    tool_severity: str(vulnerability.severity),
    vulnerability_ids: ids,
    cwes: cwesOf(strs(vulnerability.cwe)),
    references: info,
    location: {
      component,
      version: str(result.version),
      fixed_version: str(vulnerability.below),
      purl: purlOf(result),
      ecosystem: purlOf(result) === undefined ? 'npm' : undefined,
      path: filePath(file),
    },
    last_seen: time,
    tags: strs(result.detection),
  });
}

/** A tracker number is only meaningful with its kind: "issue 2432". */
function namedId(identifiers: Obj): string | undefined {
  const kinds = Object.keys(identifiers).filter((kind) => kind !== 'summary' && str(arr(identifiers[kind])[0]) !== undefined);
  const kind = kinds.includes('retid') ? 'retid' : kinds.sort()[0];
  return kind === undefined ? undefined : `${kind} ${str(arr(identifiers[kind])[0])}`;
}

function purlOf(result: Obj): string | undefined {
  const base = str(result.basePurl) ?? (str(result.npmname) ? `pkg:npm/${str(result.npmname)?.replace(/^@/, '%40')}` : undefined);
  return base && str(result.version) ? `${base}@${str(result.version)}` : base;
}
