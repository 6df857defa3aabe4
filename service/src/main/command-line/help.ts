import { describeRole, roles } from '../../shared/permissions.ts';
import { version } from '../log.ts';

interface Help {
  /** What follows the name of the command. */
  arguments?: string;
  summary: string;
  /** Further sentences. */
  details?: readonly string[];
  examples: readonly string[];
}

const ORG = 'The organization is "default" unless you set --org.';
const SETTINGS = 'Settings are environment variables; "rrs-server config" lists them.';
const ROLES = `Roles: ${roles.join(', ')}. "rrs-server help" describes them.`;

/** The commands by topic. */
const topics: Readonly<Record<string, Readonly<Record<string, Help>>>> = {
  'Run the service': {
    start: {
      summary: 'run the API and a worker in one process',
      details: [SETTINGS],
      examples: ['rrs-server start', 'PORT=9000 RRS_DATA_DIR=/var/lib/rrs rrs-server start'],
    },
    api: { summary: 'run only the API, on a shared DATABASE_URL', details: [SETTINGS], examples: ['DATABASE_URL=postgresql://rrs@db/rrs rrs-server api'] },
    worker: {
      summary: 'run only a worker, on a shared DATABASE_URL',
      details: [SETTINGS],
      examples: ['DATABASE_URL=postgresql://rrs@db/rrs rrs-server worker'],
    },
    migrate: { summary: 'migrate the database to this version', examples: ['rrs-server migrate'] },
    config: { summary: 'list all settings with their defaults', examples: ['rrs-server config'] },
  },
  'Manage organizations, members and API keys': {
    'org create': {
      arguments: '<slug> [--name <name>]',
      summary: 'create an organization and print its id',
      examples: ['rrs-server org create acme --name "Acme Corporation"'],
    },
    'org list': { summary: 'list all organizations', examples: ['rrs-server org list'] },
    'member add': {
      arguments: '<email> --role <role> [--name <name>] [--password-stdin] [--org <slug>]',
      summary: 'add a member; prints a generated password, unless --password-stdin is set',
      details: [ROLES, ORG],
      examples: [
        'rrs-server member add ann@example.com --role analyst --name Ann',
        'rrs-server member add ann@example.com --role owner --password-stdin < password.txt',
      ],
    },
    'member list': { arguments: '[--org <slug>]', summary: 'list the members', details: [ORG], examples: ['rrs-server member list --org acme'] },
    'member remove': {
      arguments: '<email> [--org <slug>]',
      summary: 'remove a member',
      details: [ORG],
      examples: ['rrs-server member remove ann@example.com'],
    },
    'key create': {
      arguments: '<name> --role <role> [--days <number>] [--org <slug>]',
      summary: 'create an API key and print it; it expires after --days (default: never)',
      details: [ROLES, ORG],
      examples: ['rrs-server key create ci --role analyst --days 90'],
    },
    'key list': { arguments: '[--org <slug>]', summary: 'list the API keys', details: [ORG], examples: ['rrs-server key list'] },
    'key revoke': {
      arguments: '<id or prefix> [--org <slug>]',
      summary: 'revoke an API key',
      details: [ORG],
      examples: ['rrs-server key revoke rrs_AZlPPooQ'],
    },
  },
  'Manage signing and encryption keys': {
    'keys list': { summary: 'list the public keys that sign or signed evidence', examples: ['rrs-server keys list'] },
    'keys rotate': {
      arguments: '[--compromised]',
      summary: 'create new signing keys; the old public keys stay published',
      examples: ['rrs-server keys rotate', 'rrs-server keys rotate --compromised'],
    },
    'credentials rotate': {
      summary: 'encrypt the credentials of all connections with a new key and delete the old key',
      examples: ['rrs-server credentials rotate'],
    },
  },
  'Verify evidence': {
    'evidence verify': {
      arguments: '[--deep] <package.zip> [options]',
      summary: 'verify a package like rrs-verify, whose options it takes (see "rrs-verify --help")',
      details: ['--deep also reads the original scan reports and checks that they show each finding before the fix and not after it.'],
      examples: ['rrs-server evidence verify --deep evidence.zip --keys keys.json'],
    },
  },
  'Back up and restore': {
    backup: {
      arguments: '<folder>',
      summary: 'write the database, files and signing keys to a new folder; the service can keep running',
      examples: ['rrs-server backup /backups/2027-03-31'],
    },
    restore: { arguments: '<folder>', summary: 'restore a backup into an empty database', examples: ['rrs-server restore /backups/2027-03-31'] },
  },
};

const all: Readonly<Record<string, Help>> = Object.assign({}, ...Object.values(topics));

const WIDTH = 40;

function lineOf([name, { arguments: given, summary }]: [string, Help]): string {
  const command = `  rrs-server ${name}${given ? ` ${given}` : ''}`;
  return command.length < WIDTH ? `${command.padEnd(WIDTH)}  ${summary}\n` : `${command}\n${' '.repeat(WIDTH)}  ${summary}\n`;
}

/** All commands. */
export const usage = `rrs-server ${version}: Remediation Risk Service

${Object.entries(topics)
  .map(([topic, commands]) => `${topic}:\n${Object.entries(commands).map(lineOf).join('')}`)
  .join('\n')}
Run "rrs-server <command> --help" for examples. ${ORG}

Roles:
${roles.map((role) => `  ${role.padEnd(10)} ${describeRole(role)}\n`).join('')}`;

/** The help of the command that the arguments name, or of the commands that begin like it. */
export function helpFor(args: readonly string[]): string | null {
  const [first = '', second = ''] = args;
  const named = all[`${first} ${second}`] ? `${first} ${second}` : first;
  const help = all[named];
  if (help !== undefined) {
    const { arguments: given, summary, details = [], examples } = help;
    const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
    return [`Usage: rrs-server ${named}${given ? ` ${given}` : ''}`, '', sentence, ...details, '', 'Examples:', ...examples.map((one) => `  ${one}`), ''].join(
      '\n',
    );
  }
  const group = Object.entries(all).filter(([name]) => name.startsWith(`${first} `));
  return first === '' || group.length === 0 ? null : `Commands:\n${group.map(lineOf).join('')}`;
}
