import { isUnavailable } from '../../db/unavailable.ts';
import { AppError, messageOf, OperatorError } from '../../shared/errors.ts';
import { describeRole, roles } from '../../shared/permissions.ts';
import { describeConfig, readConfig } from '../config.ts';
import { createLog, version } from '../log.ts';

/** Commands print their result to stdout. `start`, `api` and `worker` run until they are stopped. */
const usage = `rrs-server ${version}: Remediation Risk Service

Run the service:
  rrs-server start                        run the API and a worker in one process
  rrs-server api | worker                 run only the API or only a worker, on a shared DATABASE_URL
  rrs-server migrate                      migrate the database to this version
  rrs-server config                       list all settings with their defaults

Manage organizations, members and API keys:
  rrs-server org create <slug> [--name <name>]
  rrs-server org list
  rrs-server member add <email> --role <role> [--name <name>] [--password-stdin] [--org <slug>]
                                          prints a generated password, unless --password-stdin is set
  rrs-server member list [--org <slug>]
  rrs-server member remove <email> [--org <slug>]
  rrs-server key create <name> --role <role> [--days <number>] [--org <slug>]
                                          prints the key; it expires after --days (default: never)
  rrs-server key list [--org <slug>]
  rrs-server key revoke <id or prefix> [--org <slug>]

Manage signing and encryption keys:
  rrs-server keys list                    list the public keys that sign or signed evidence
  rrs-server keys rotate [--compromised]  create new signing keys; the old public keys stay published
  rrs-server credentials rotate           re-encrypt the credentials of all connections with a new key and delete the old key

Verify evidence:
  rrs-server evidence verify [--deep] <package.zip> [options]
                                          verify a package like rrs-verify, whose options it takes; --deep also reads the original scan reports
                                          and checks that they show each finding before the fix and not after it

Back up and restore:
  rrs-server backup <folder>              write the database, files and signing keys to a new folder; the service can keep running
  rrs-server restore <folder>             restore a backup into an empty database

The organization is "default" unless you set --org.

Roles:
${roles.map((role) => `  ${role.padEnd(10)} ${describeRole(role)}\n`).join('')}`;

export async function main(args: string[]): Promise<number> {
  const [command = '', ...rest] = args;
  try {
    return await run(command, rest);
  } catch (error) {
    if (error instanceof OperatorError || error instanceof AppError) {
      process.stderr.write(`rrs-server: ${error.message}\n`);
      return 1;
    }
    if (isUnavailable(error)) {
      process.stderr.write(`rrs-server: The database is not available (${messageOf(error)}). Retry when it is.\n`);
      return 1;
    }
    throw error;
  }
}

async function run(command: string, args: string[]): Promise<number> {
  if (['start', 'api', 'worker', 'migrate', 'config'].includes(command) && args.length > 0) {
    process.stderr.write(
      `rrs-server: "rrs ${command}" takes no arguments ("${args[0]}"). Settings are environment variables; "rrs-server config" lists them.\n`,
    );
    return 2;
  }
  switch (command) {
    case 'start':
    case 'api':
    case 'worker': {
      const { runService } = await import('../run.ts');
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
      // Exits through process.exit, so that a database server started for the command is stopped too.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
      const { administer } = await import('./administer.ts');
      process.stdout.write(await administer(command, args, ...settings()));
      return 0;
    }
    case 'evidence': {
      if (args[0] !== 'verify') {
        process.stderr.write(`rrs-server: unknown command "evidence ${args[0] ?? ''}". "rrs-server help" lists all commands.\n`);
        return 2;
      }
      const { verifyEvidence } = await import('./verify-evidence.ts');
      const write = { out: (text: string) => void process.stdout.write(text), err: (text: string) => void process.stderr.write(text) };
      return verifyEvidence(args.slice(1), { ...write, color: process.stdout.isTTY });
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
      process.stderr.write(command === '' ? usage : `rrs-server: unknown command "${command}".\n\n${usage}`);
      return 2;
  }
}

function settings() {
  const { config, warnings } = readConfig();
  const log = createLog(config.LOG_LEVEL);
  for (const warning of warnings) log.warn(warning);
  return [config, log] as const;
}
