import { isUnavailable } from '../../db/unavailable.ts';
import { AppError, messageOf, OperatorError } from '../../shared/errors.ts';
import { describeConfig, readConfig } from '../config.ts';
import { createLog, version } from '../log.ts';
import { helpFor, usage } from './help.ts';

/** Commands print their result to stdout. `start`, `api` and `worker` run until they are stopped. */
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
  const help = args.includes('--help') || args.includes('-h') ? helpFor([command, ...args]) : ['help', '--help', '-h'].includes(command) ? helpFor(args) : null;
  if (help !== null) {
    process.stdout.write(help);
    return 0;
  }
  if (['start', 'api', 'worker', 'migrate', 'config'].includes(command) && args.length > 0) {
    process.stderr.write(
      `rrs-server: "rrs-server ${command}" takes no arguments ("${args[0]}"). Settings are environment variables; "rrs-server config" lists them.\n`,
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
