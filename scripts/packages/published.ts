export interface Published {
  folder: string;
  description: string;
  engines: string;
  /** Programs by name, with the module that runs each. `pinned`: it needs the pinned Node, which the package brings along. */
  bins: Readonly<Record<string, { run: string; pinned?: true }>>;
  /** Whether programs of other people import it, so that it has types. */
  types?: true;
  /** Files and folders that are not built. */
  files?: readonly string[];
}

/** Node 20.17 is the first with `crc32` and with options such as `--no-wait`. */
export const SUPPORTED = '>=20.17';

/** What is published, in an order in which each comes after what it needs. */
export const published: readonly Published[] = [
  { folder: 'client', description: 'Typed client.', engines: SUPPORTED, bins: {}, types: true },
  { folder: 'evidence-format', description: 'Format of the evidence packages of the Remediation Risk Service.', engines: SUPPORTED, bins: {}, types: true },
  {
    folder: 'verifier',
    description: 'Verifies evidence packages of the Remediation Risk Service offline.',
    engines: SUPPORTED,
    bins: { 'rrs-verify': { run: 'src/cli/run.ts' } },
    types: true,
  },
  { folder: 'cli', description: 'The command line of the Remediation Risk Service.', engines: SUPPORTED, bins: { rrs: { run: 'src/bin/rrs.ts' } } },
  { folder: 'scan-reports', description: 'Reads scan reports for the Remediation Risk Service.', engines: '>=24', bins: {} },
  { folder: 'connectors', description: 'Connectors of the Remediation Risk Service.', engines: '>=24', bins: {} },
  { folder: 'console', description: 'Web console of the Remediation Risk Service.', engines: '>=24', bins: {}, files: ['dist'] },
  {
    folder: 'service',
    description: 'The Remediation Risk Service: API and worker.',
    engines: '>=20',
    bins: { 'rrs-server': { run: 'src/main/command-line/cli.ts', pinned: true } },
    files: ['migrations', 'openapi.json', 'bin/bundle-stamp.mjs'],
  },
];
