import { isUnavailable } from '../db/unavailable.ts';
import { AppError, messageOf, OperatorError } from '../shared/errors.ts';
import { describeConfig, readConfig } from './config.ts';
import { createLog, version } from './log.ts';

/** A command answers on stdout and returns; the ones that serve return only when they are stopped. */
const usage = `rrs ${version}: the Remediation Risk Service

  rrs start                        run the service: API and worker in one process
  rrs api | worker                 run one of the two, on a shared DATABASE_URL
  rrs migrate                      bring the database to this version
  rrs config                       show all settings with their defaults

  rrs org create <slug> [--name <name>]
  rrs org list
  rrs member add <email> --role <role> [--name <name>] [--password-stdin] [--org <slug>]
  rrs member list [--org <slug>]
  rrs member remove <email> [--org <slug>]
  rrs key create <name> --role <role> [--days <number>] [--org <slug>]   prints the key alone
  rrs key list [--org <slug>]
  rrs key revoke <id or prefix> [--org <slug>]

  rrs keys list                    public keys that sign or signed evidence
  rrs keys rotate                  sign with new keys from now on; the old ones stay published

  rrs credentials rotate           encrypt the credentials of all connections with a new key; the old one is deleted

  rrs backup <folder>              write database, files and signing keys to a new folder, while the service runs
  rrs restore <folder>             read them into an empty database

The organization is "default" unless --org names another. Roles: owner, admin, analyst, viewer, auditor.
`;

export async function main(args: string[]): Promise<number> {
  const [command = '', ...rest] = args;
  try {
    return await run(command, rest);
  } catch (error) {
    if (error instanceof OperatorError || error instanceof AppError) {
      process.stderr.write(`rrs: ${error.message}\n`);
      return 1;
    }
    if (isUnavailable(error)) {
      process.stderr.write(`rrs: The database does not answer (${messageOf(error)}). Try again when it does.\n`);
      return 1;
    }
    throw error;
  }
}

async function run(command: string, args: string[]): Promise<number> {
  if (['start', 'api', 'worker', 'migrate', 'config'].includes(command) && args.length > 0) {
    process.stderr.write(`rrs: "rrs ${command}" takes nothing behind it ("${args[0]}"); settings are in the environment, and "rrs config" lists them.\n`);
    return 2;
  }
  switch (command) {
    case 'start':
    case 'api':
    case 'worker': {
      const { runService } = await import('./run.ts');
      return runService(command, ...settings());
    }
    case 'config':
      process.stdout.write(`${describeConfig()}\n`);
      readConfig();
      return 0;
    case 'migrate':
    case 'org':
    case 'member':
    case 'key':
    case 'keys':
    case 'credentials':
    case 'backup':
    case 'restore': {
      // So that a server started for the command ends with it.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
      const { administer } = await import('./administer.ts');
      process.stdout.write(await administer(command, args, ...settings()));
      return 0;
    }
    case '--version':
      process.stdout.write(`${version}\n`);
      return 0;
    case '--help':
    case '-h':
    case 'help':
      process.stdout.write(usage);
      return 0;
    default:
      process.stderr.write(command === '' ? usage : `rrs: there is no command "${command}".\n\n${usage}`);
      return 2;
  }
}

function settings() {
  const { config, warnings } = readConfig();
  const log = createLog(config.LOG_LEVEL);
  for (const warning of warnings) log.warn(warning);
  return [config, log] as const;
}
