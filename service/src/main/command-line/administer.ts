import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { publishedKeys, rotateKeys } from '../../evidence/keys/keys.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { createApiKey, findApiKey, listAllApiKeys, revokeApiKey } from '../../organizations/api-keys/api-keys.ts';
import { addMember, findMember, listAllMembers, removeMember } from '../../organizations/members/members.ts';
import { createOrganization, findOrganization, listOrganizations } from '../../organizations/organization.ts';
import { hashPassword } from '../../organizations/sign-in/passwords.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { OperatorError } from '../../shared/errors.ts';
import { type Role, roles } from '../../shared/permissions.ts';
import type { Config } from '../config.ts';
import { type Log, version } from '../log.ts';
import { keysDir, openBlobs, openServerForCommand } from '../storage.ts';

type Options = ReturnType<typeof readOptions>['values'];

interface Call {
  db: Database;
  keysFolder: string;
  args: string[];
  options: Options;
}

/** Commands for organizations, members and keys, which can run next to the service. Each returns the text to print. */
const commands: Record<string, (call: Call) => Promise<string>> = {
  'org create': async ({ db, args, options }) => {
    const slug = required(args, 'a slug (example: acme)');
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug))
      throw new OperatorError('A slug must consist of 1 to 63 lower-case letters, digits and hyphens, and start with a letter or digit.');
    const organization = await db.withSystem((tx) => createOrganization(tx, 'command line', { slug, name: options.name ?? slug }));
    return `${organization.id}\n`;
  },
  'org list': async ({ db }) => {
    const organizations = await db.withSystem(listOrganizations);
    return table(
      ['SLUG', 'NAME', 'ID', 'CREATED'],
      organizations.map((row) => [row.slug, row.name, row.id, row.created_at.toISOString()]),
    );
  },
  'member add': async ({ db, args, options }) => {
    const email = required(args, 'an e-mail address');
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new OperatorError(`"${email}" is not an e-mail address.`);
    const actor = await actorFor(db, options);
    const generated = options['password-stdin'] ? null : randomBytes(15).toString('base64url');
    const password = generated ?? (await text(process.stdin)).replace(/\r?\n$/, '');
    if (password.length < 12 || password.length > 200) throw new OperatorError('The password must have 12 to 200 characters.');
    const passwordHash = await hashPassword(password);
    await db.withTenant(actor, (tx) => addMember(tx, actor, { email, name: options.name ?? email, role: roleOf(options), passwordHash }));
    return generated === null ? '' : `${generated}\n`;
  },
  'member list': async ({ db, options }) => {
    const actor = await actorFor(db, options);
    const members = await db.withTenant(actor, (tx) => listAllMembers(tx, actor.orgId));
    return table(
      ['E-MAIL', 'ROLE', 'NAME', 'ID'],
      members.map((row) => [row.email, row.role, row.name, row.id]),
    );
  },
  'member remove': async ({ db, args, options }) => {
    const email = required(args, 'the e-mail address of the member');
    const actor = await actorFor(db, options);
    await db.withTenant(actor, async (tx) => removeMember(tx, actor, (await findMember(tx, actor.orgId, email)).id));
    return '';
  },
  'key create': async ({ db, args, options }) => {
    const name = required(args, 'a name for the key');
    const actor = await actorFor(db, options);
    const expires_at = options.days === undefined ? null : new Date(Date.now() + days(options.days) * 86_400_000).toISOString();
    const { token } = await db.withTenant(actor, (tx) => createApiKey(tx, actor, { name, role: roleOf(options), expires_at }));
    return `${token}\n`;
  },
  'key list': async ({ db, options }) => {
    const actor = await actorFor(db, options);
    const keys = await db.withTenant(actor, (tx) => listAllApiKeys(tx, actor.orgId));
    const when = (date: Date | null): string => date?.toISOString() ?? '-';
    return table(
      ['PREFIX', 'ROLE', 'NAME', 'EXPIRES', 'LAST USED', 'REVOKED', 'ID'],
      keys.map((row) => [row.prefix, row.role, row.name, when(row.expires_at), when(row.last_used_at), when(row.revoked_at), row.id]),
    );
  },
  'key revoke': async ({ db, args, options }) => {
    const name = required(args, 'the ID or prefix of the key');
    const actor = await actorFor(db, options);
    await db.withTenant(actor, async (tx) => revokeApiKey(tx, actor, (await findApiKey(tx, actor.orgId, name)).id));
    return '';
  },
  'keys list': async ({ db }) => {
    const keys = await db.withSystem(publishedKeys);
    return table(
      ['USE', 'ALGORITHM', 'KEY ID', 'FROM', 'TO'],
      keys.map(({ use, algorithm, keyId, validFrom, validTo }) => [use, algorithm, keyId, validFrom.toISOString(), validTo?.toISOString() ?? '-']),
    );
  },
  'credentials rotate': async ({ db, keysFolder }) => {
    // Imported here because it loads all connectors, which the other commands do not need.
    const { resealCredentials } = await import('../../integrations/connections/connections.ts');
    const keys = openKeyRing(keysFolder);
    const keyId = await keys.rotate();
    const count = await db.withSystem((tx) => resealCredentials(tx, keys));
    await keys.forgetAllBut(keyId);
    return `Re-encrypted the credentials of ${count} connections with key ${keyId} and deleted the older keys.\n`;
  },
  'keys rotate': async ({ db, keysFolder, options }) => {
    const signers = await rotateKeys(db, keysFolder, options.compromised ? 'compromise' : 'scheduled');
    return `New evidence is signed with these keys. Publish them to everyone who verifies packages:\n${signers.map(({ algorithm, keyId }) => `  ${algorithm.padEnd(8)} ${keyId}\n`).join('')}`;
  },
};

export async function administer(command: string, argv: string[], config: Config, log: Log): Promise<string> {
  const { values: options, positionals } = readOptions(argv);
  if (command === 'backup' || command === 'restore') return backupOrRestore(command, required(positionals, 'a folder'), config, log);
  const name = command === 'migrate' ? command : `${command} ${positionals[0] ?? ''}`;
  const act = commands[name];
  if (!act && name !== 'migrate') throw new OperatorError(`Unknown command "${name.trim()}". "rrs-server help" lists all commands.`);
  const surplus = positionals[/ (?:list|rotate)$/.test(name) ? 1 : 2];
  if (act && surplus !== undefined) throw new OperatorError(`Unexpected argument "${surplus}" for "rrs-server ${name}". Put a name with spaces in quotes.`);
  const server = await openServerForCommand(config, log);
  try {
    const { applied } = await migrate(server.url);
    if (!act) return `The database schema is at version ${applied}.\n`;
    const db = openDatabase({ url: server.url, poolSize: 2 });
    try {
      return await act({ db, keysFolder: keysDir(config), args: positionals.slice(1), options });
    } finally {
      await db.close();
    }
  } finally {
    await server.stop();
  }
}

async function backupOrRestore(command: 'backup' | 'restore', folder: string, config: Config, log: Log): Promise<string> {
  const server = await openServerForCommand(config, log);
  try {
    const blobs = await openBlobs(config);
    const common = { url: server.url, blobs, keysFolder: keysDir(config) };
    const done =
      command === 'backup'
        ? await (await import('../backup/backup.ts')).backup({ ...common, target: folder, version })
        : await (await import('../backup/restore.ts')).restore({ ...common, source: folder });
    const warning = command === 'backup' && done.keys > 0 ? ' The backup contains the private signing keys. Protect it accordingly.' : '';
    return `${command === 'backup' ? 'Backup written to' : 'Backup restored from'} ${folder}: ${done.rows} rows, ${done.blobs} files.${warning}\n`;
  } finally {
    await server.stop();
  }
}

function readOptions(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        org: { type: 'string' },
        name: { type: 'string' },
        role: { type: 'string' },
        days: { type: 'string' },
        'password-stdin': { type: 'boolean' },
        compromised: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new OperatorError(`${error instanceof Error ? error.message : String(error)} "rrs-server help" lists all commands.`, { cause: error });
  }
}

async function actorFor(db: Database, options: Options): Promise<Actor> {
  const organization = await db.withSystem((tx) => findOrganization(tx, options.org ?? 'default'));
  return systemActor(organization.id, 'command line');
}

function required([value]: string[], what: string): string {
  if (value === undefined || value === '') throw new OperatorError(`Missing argument: ${what}. "rrs-server help" shows the usage.`);
  return value;
}

function roleOf({ role }: Options): Role {
  const found = roles.find((known) => known === role);
  if (!found) throw new OperatorError(`--role must be one of: ${roles.join(', ')}.`);
  return found;
}

function days(value: string): number {
  if (!/^[1-9]\d{0,4}$/.test(value)) throw new OperatorError('--days must be an integer between 1 and 99999.');
  return Number(value);
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
