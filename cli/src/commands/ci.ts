import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flagOf, JSON_OPTION, listOf, textOf } from '../arguments.ts';
import { ciJob } from '../ci/ci-environment.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { printJson } from '../print.ts';
import { gate } from './gate.ts';
import { importAll, importReports } from './import.ts';

const { format, asset, path, complete, 'looked-for': lookedFor, 'ended-track': endedTrack } = importReports.options ?? {};
const { 'fail-on': failOn, 'new-only': newOnly, output } = gate.options ?? {};

export const ci: Command = {
  arguments: 'FILE…',
  options: {
    ...(asset && { asset }),
    track: { type: 'string', value: 'NAME', help: 'Branch or environment. Default: that of the job; pr-17 for pull request 17.' },
    'asset-version': {
      type: 'string',
      value: 'VERSION',
      help: 'Version or digest that was scanned. Default: none, because the commit is not the version of an image.',
    },
    base: { type: 'string', value: 'TRACK', help: 'Track to compare with. Default: the target branch of a pull request.' },
    ...(failOn && { 'fail-on': failOn }),
    ...(newOnly && { 'new-only': newOnly }),
    ...(complete && { complete }),
    ...(format && { format }),
    ...(path && { path }),
    ...(lookedFor && { 'looked-for': lookedFor }),
    ...(endedTrack && { 'ended-track': endedTrack }),
    ...(output && { output }),
    gate: { type: 'boolean', help: 'Decide over the findings. This is the default; --no-gate only imports.' },
    ...JSON_OPTION,
  },
  examples: ['rrs ci trivy.json', "rrs ci 'reports/*.sarif' --asset repository:github.com/acme/shop --fail-on critical,kev --output sarif=gate.sarif"],
  exitStatus: '0 passed, 1 the gate or an import failed, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    if (call.positionals.length === 0) throw new UsageError('Name the report files.');
    return flagOf(call, 'json') ? asOneDocument(call) : importAndDecide(call, call);
  },
};

type Step = Pick<Call, 'terminal'>;

/** The commands print to the terminals of their steps. */
async function importAndDecide(call: Call, imports: Step, decision: Step = imports): Promise<number> {
  const job = ciJob(call.env);
  const track = textOf(call, 'track') ?? job.track;
  const scope = pick(call, ['asset', 'asset-version', 'complete', 'format', 'path', 'looked-for', 'ended-track', 'json']);
  const { status, ids } = await importAll({ ...call, ...imports, values: withoutUndefined({ ...scope, track }) });
  if (status !== EXIT.ok || flagOf(call, 'gate') === false) return status;
  const base = textOf(call, 'base') ?? job.base;
  const values = withoutUndefined({ ...pick(call, ['fail-on', 'new-only', 'json']), base });
  return withSummary(job.summary, (outputs) =>
    gate.run({ ...call, ...decision, positionals: ids, values: { ...values, output: [...listOf(call, 'output'), ...outputs] } }),
  );
}

/** `{ imports, gate }`: what the two commands print, in one document. */
async function asOneDocument(call: Call): Promise<number> {
  const collector = () => {
    let printed = '';
    const out = (text: string | Uint8Array): void => {
      printed += text;
    };
    return { terminal: { ...call.terminal, out }, value: (): unknown => (printed === '' ? null : JSON.parse(printed)) };
  };
  const [imports, decision] = [collector(), collector()];
  const status = await importAndDecide(call, { terminal: imports.terminal }, { terminal: decision.terminal });
  printJson(call, { imports: imports.value(), gate: decision.value() });
  return status;
}

type Values = Call['values'];

function pick({ values }: Call, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

function withoutUndefined(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Adds the result to what other steps wrote to the job's page. */
async function withSummary(summary: string | undefined, decide: (outputs: string[]) => Promise<number>): Promise<number> {
  if (!summary) return decide([]);
  const folder = await mkdtemp(join(tmpdir(), 'rrs-summary-'));
  try {
    const file = join(folder, 'summary.md');
    const status = await decide([`markdown=${file}`]);
    await appendFile(summary, `${await readFile(file, 'utf8')}\n`);
    return status;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
