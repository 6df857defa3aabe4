import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseWitnessVkey } from '@rrs/evidence-format';
import { messageOf, OperatorError } from '../shared/errors.ts';
import { roles } from '../shared/permissions.ts';

/** All settings. Only this file reads the environment. It reports all errors at once. */
interface Setting<T> {
  default: string;
  about: string;
  secret?: true;
  parse: (text: string) => T;
}

const text = (value: string): string | null => (value === '' ? null : value);

function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`must be an integer between ${min} and ${max}`);
    return number;
  };
}

function oneOf<const T extends readonly string[]>(...allowed: T) {
  return (value: string): T[number] => {
    if (!allowed.includes(value)) throw new Error(`must be one of: ${allowed.join(', ')}`);
    return value;
  };
}

function url(...protocols: string[]) {
  return (value: string): string | null => {
    if (value === '') return null;
    const parsed = URL.canParse(value) ? new URL(value) : null;
    if (!parsed || !protocols.includes(parsed.protocol)) throw new Error(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return value.replace(/(?<!\/)\/+$/, '');
  };
}

/** The host may be empty, as in the URL of a Unix socket: postgresql://user@/database?host=/var/run/postgresql */
function databaseUrl(value: string): string | null {
  return url('postgres:', 'postgresql:')(value.replace('@/', '@localhost/')) === null ? null : value;
}

function list(check: (item: string) => void) {
  return (value: string): string[] => {
    const items = value.split(',').flatMap((item) => item.trim() || []);
    for (const item of items) check(item);
    return items;
  };
}

const networks = list((item) => {
  const [address = '', bits] = item.split('/');
  const family = isIP(address);
  if (family === 0) throw new Error(`"${item}" is not an IP address or network (example: 10.0.0.0/8)`);
  if (bits !== undefined) new BlockList().addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
});

const origins = list((item) => {
  if (!URL.canParse(item) || new URL(item).origin !== item) throw new Error(`"${item}" is not an origin (example: https://console.example.com)`);
});

const urls = list((item) => {
  if (!URL.canParse(item) || !/^https?:$/.test(new URL(item).protocol)) throw new Error(`"${item}" is not an http or https URL`);
});

/** Each item is the verifier key of a witness, a space, and its URL. */
function witnesses(value: string): { name: string; key: Uint8Array; url: string }[] {
  return value.split(',').flatMap((item) => {
    const [vkey = '', address = '', ...rest] = item.trim().split(/\s+/);
    if (vkey === '') return [];
    const witnessUrl = url('http:', 'https:')(address);
    if (witnessUrl === null || rest.length > 0) throw new Error(`must list a verifier key and a URL for each witness, not "${item.trim()}"`);
    try {
      return [{ ...parseWitnessVkey(vkey), url: witnessUrl }];
    } catch (error) {
      throw new Error(`has an invalid key "${vkey}": ${messageOf(error)}`);
    }
  });
}

function certificates(value: string): string | null {
  if (value === '') return null;
  if (!/^-----BEGIN CERTIFICATE-----/.test(value.trim()))
    throw new Error('must be PEM certificates (to read them from a file, append _FILE to the name of the setting)');
  return value;
}

function scopes(value: string): string {
  if (!value.split(/\s+/).includes('openid')) throw new Error('must include openid');
  return value;
}

function bootstrapKey(value: string): string | null {
  if (value === '') return null;
  if (!/^[\x21-\x7e]{20,200}$/.test(value)) throw new Error('must have 20 to 200 visible ASCII characters');
  return value;
}

const settings = {
  HOST: { default: '127.0.0.1', about: 'Address to listen on', parse: (value: string) => value },
  PORT: { default: '8080', about: 'Port to listen on; 0: any free port', parse: integer(0, 65_535) },
  LOG_LEVEL: {
    default: 'info',
    about: 'Log level: fatal, error, warn, info, debug, trace or silent',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  DATABASE_URL: {
    default: '',
    about: 'URL of a PostgreSQL database, version 15 or newer; empty: an embedded server in the data folder',
    secret: true,
    parse: databaseUrl,
  },
  RRS_DATABASE_POOL: {
    default: '10',
    about: 'Maximum number of database connections per process, for each of its two database roles',
    parse: integer(2, 1_000),
  },
  RRS_DATA_DIR: { default: './data', about: 'Data folder: embedded database, stored files, first owner key', parse: (value: string) => resolve(value) },
  RRS_KEYS_DIR: {
    default: '',
    about: 'Folder of the private keys that sign evidence and encrypt credentials, shared by all processes on a database; empty: "keys" in the data folder',
    parse: (value: string) => (value === '' ? null : resolve(value)),
  },
  RRS_BOOTSTRAP_API_KEY: { default: '', about: 'First owner key of the organization "default"; empty: a random key', secret: true, parse: bootstrapKey },
  RRS_PUBLIC_URL: { default: '', about: 'URL at which callers reach the service; empty: http://HOST:PORT', parse: url('http:', 'https:') },
  RRS_BODY_LIMIT: { default: '1048576', about: 'Maximum size of a JSON body, in bytes', parse: integer(1_024, 104_857_600) },
  RRS_REPORT_LIMIT: { default: '1073741824', about: 'Maximum size of a report file, in bytes', parse: integer(1_024, 1_099_511_627_776) },
  RRS_ARTIFACT_LIMIT: { default: '104857600', about: 'Maximum size of an artifact, in bytes', parse: integer(1_024, 1_099_511_627_776) },
  RRS_REQUEST_TIMEOUT: { default: '60', about: 'Maximum time to receive a request that is not an upload, in seconds', parse: integer(1, 3_600) },
  RRS_RATE_LIMIT: { default: '600', about: 'Requests per minute per credential; 0: no limit', parse: integer(0, 1_000_000) },
  RRS_RATE_BURST: { default: '100', about: 'Maximum burst of requests per credential', parse: integer(1, 1_000_000) },
  RRS_SESSION_HOURS: { default: '12', about: 'Lifetime of a browser session, in hours', parse: integer(1, 720) },
  RRS_CONSOLE: { default: 'on', about: 'on: serve the web console; off: serve only the API', parse: oneOf('on', 'off') },
  RRS_WORKER_CONCURRENCY: {
    default: '4',
    about: 'Number of CPU-bound jobs that a worker process runs at the same time. As many more can run, of organizations that have none running',
    parse: integer(1, 100),
  },
  RRS_WORKER_PORT: {
    default: '',
    about: 'Port on which `rrs-server worker` serves /healthz, /readyz and /metrics; empty: none',
    parse: (value: string) => (value === '' ? null : integer(0, 65_535)(value)),
  },
  RRS_METRICS_PORT: {
    default: '',
    about: 'Own port for /metrics, on which /healthz and /readyz are served too; empty: /metrics is on the port of the API',
    parse: (value: string) => (value === '' ? null : integer(0, 65_535)(value)),
  },
  RRS_METRICS_TOKEN: { default: '', about: 'Bearer token that /metrics requires; empty: none', secret: true, parse: bootstrapKey },
  RRS_OIDC_ISSUER: {
    default: '',
    about: 'OpenID Connect issuer that people sign in at and whose access tokens are accepted; empty: none',
    parse: url('http:', 'https:'),
  },
  RRS_OIDC_AUDIENCE: { default: '', about: 'Audience that access tokens must contain; empty: access tokens are not accepted', parse: text },
  RRS_OIDC_CLIENT_ID: {
    default: '',
    about: 'Client ID of the service at the issuer, with which people sign in to the web console; empty: they sign in with a password',
    parse: text,
  },
  RRS_OIDC_CLIENT_SECRET: { default: '', about: 'Client secret; empty: a public client, protected by PKCE only', secret: true, parse: text },
  RRS_OIDC_SCOPES: { default: 'openid email profile', about: 'Scopes to request when people sign in, separated by spaces', parse: scopes },
  RRS_OIDC_ORGANIZATION_CLAIM: { default: 'organization', about: 'Claim that contains the slug or ID of the organization', parse: (value: string) => value },
  RRS_OIDC_ROLE_CLAIM: {
    default: 'role',
    about: `Claim that contains the role (${roles.join(', ')}); without it, a token has the role of the member with its e-mail`,
    parse: (value: string) => value,
  },
  RRS_OIDC_EMAIL_VERIFIED_CLAIM: {
    default: 'email_verified',
    about: 'Claim that says whether the provider has verified the e-mail address; xms_edov for Microsoft Entra ID',
    parse: (value: string) => value,
  },
  RRS_TSA_URL: {
    default: '',
    about: 'Comma-separated URLs of time-stamping authorities (RFC 3161) that certify when packages were sealed; empty: none',
    parse: urls,
  },
  RRS_TSA_CERTIFICATES: {
    default: '',
    about: 'PEM root certificates of the time-stamping authorities; required with RRS_TSA_URL',
    secret: true,
    parse: certificates,
  },
  RRS_WITNESSES: {
    default: '',
    about:
      'Comma-separated witnesses (C2SP tlog-witness) that confirm checkpoints of the transparency log, each as its verifier key, a space and its URL; empty: none',
    parse: witnesses,
  },
  RRS_OUTBOUND_ALLOW: {
    default: '',
    about: 'Comma-separated private addresses or networks that connections and webhooks may reach (example: 10.0.0.0/8); empty: only public addresses',
    parse: networks,
  },
  RRS_ENRICHMENT_MIRRORS: {
    default: '',
    about: 'Comma-separated origins of mirrors that may supply vulnerability data; the data applies to all organizations',
    parse: origins,
  },
  RRS_OUTBOUND_PROXY: {
    default: '',
    about: 'URL of an HTTP proxy for connections and webhooks; the proxy resolves host names, so the proxy must block private networks; empty: none',
    secret: true,
    parse: url('http:', 'https:'),
  },
  RRS_OUTBOUND_CERTIFICATES: {
    default: '',
    about: 'PEM certificates that connections and webhooks trust in addition to the built-in ones',
    secret: true,
    parse: certificates,
  },
  RRS_TRUSTED_PROXIES: {
    default: '',
    about: 'Comma-separated addresses or networks of proxies whose X-Forwarded-* headers are trusted; empty: none',
    parse: networks,
  },
  RRS_CORS_ORIGINS: { default: '', about: 'Comma-separated origins of other sites whose pages may call the API; empty: none', parse: origins },
  RRS_S3_BUCKET: { default: '', about: 'S3 bucket for stored files; empty: the data folder', parse: text },
  RRS_S3_PREFIX: { default: '', about: 'Prefix of object names in the bucket', parse: (value: string) => value },
  RRS_S3_REGION: { default: 'us-east-1', about: 'Region of the bucket', parse: (value: string) => value },
  RRS_S3_ENDPOINT: { default: '', about: 'URL of an S3-compatible store; empty: AWS', parse: url('http:', 'https:') },
  RRS_S3_PATH_STYLE: { default: 'false', about: 'true: put the bucket in the path instead of the host name', parse: oneOf('true', 'false') },
  RRS_S3_ACCESS_KEY_ID: { default: '', about: 'Access key ID; empty: the default credentials of the AWS SDK', parse: text },
  RRS_S3_SECRET_ACCESS_KEY: { default: '', about: 'Secret access key', secret: true, parse: text },
} as const satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof settings;
export type Config = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['parse']> };
type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(environment: Environment = process.env): { config: Config; warnings: string[] } {
  const errors: string[] = [];
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => {
      try {
        return [name, setting.parse(given(name, setting, environment))];
      } catch (error) {
        errors.push(`${name} ${messageOf(error)}`);
        return [name, undefined];
      }
    }),
  ) as Config;
  if (config.RRS_OIDC_ISSUER && !config.RRS_OIDC_AUDIENCE && !config.RRS_OIDC_CLIENT_ID)
    errors.push('RRS_OIDC_AUDIENCE (for access tokens) or RRS_OIDC_CLIENT_ID (for people who sign in) must be set together with RRS_OIDC_ISSUER');
  if (config.RRS_OIDC_CLIENT_ID && !config.RRS_OIDC_ISSUER) errors.push('RRS_OIDC_ISSUER must be set together with RRS_OIDC_CLIENT_ID');
  if (config.RRS_TSA_URL?.length > 0 && !config.RRS_TSA_CERTIFICATES) errors.push('RRS_TSA_CERTIFICATES must be set together with RRS_TSA_URL');
  if (errors.length > 0) throw new OperatorError(`Invalid settings: ${errors.join('; ')}. "rrs-server config" describes all settings.`);
  return { config: Object.freeze(config), warnings: unknownSettings(environment) };
}

function given(name: string, setting: Setting<unknown>, environment: Environment): string {
  const direct = environment[name]?.trim();
  const file = setting.secret ? environment[`${name}_FILE`] : undefined;
  if (!file) return direct || setting.default;
  if (direct) throw new Error(`and ${name}_FILE are both set; remove one of them`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read from ${name}_FILE (${messageOf(error)})`);
  }
}

function unknownSettings(environment: Environment): string[] {
  const known = new Set(Object.entries(settings).flatMap(([name, setting]) => ('secret' in setting ? [name, `${name}_FILE`] : [name])));
  return Object.keys(environment)
    .filter((name) => name.startsWith('RRS_') && !known.has(name))
    .map((name) => `unknown setting ${name}, "rrs-server config" lists all settings`);
}

/** The output of `rrs-server config`: one line per setting. Of a secret it shows only whether it is set. */
export function describeConfig(environment: Environment = process.env): string {
  const rows = Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const value = environment[name] || (setting.secret && environment[`${name}_FILE`]);
    const shown = !value ? '' : setting.secret ? '(set)' : String(environment[name]);
    return [setting.secret ? `${name}[_FILE]` : name, setting.default || '-', shown || '-', setting.about];
  });
  const table = [['SETTING', 'DEFAULT', 'CURRENT', 'DESCRIPTION'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => row.map((cell, column) => (column < 3 ? cell.padEnd(widths[column] ?? 0) : cell)).join('  ')).join('\n');
}
