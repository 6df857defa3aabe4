import type { Config } from './config.ts';
import { type Log, version } from './log.ts';
import type { Role } from './parts.ts';
import { type RunningService, startService } from './service.ts';

const PATIENCE_MS = 25_000;
// Ctrl-C reaches us from the terminal and again from npm; that is one wish.
const ECHO_MS = 1_000;

/** Runs until a signal, then lets requests and jobs in flight finish. A second signal does not wait for them. */
export async function runService(role: Role, config: Config, log: Log): Promise<number> {
  const { stopping, hurrying } = watchSignals();
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an unexpected error ended the service');
    process.exit(1);
  });
  const service = await Promise.race([startService(role, config, log), hurrying]);
  if (service === null) return 1;
  process.stdout.write(greeting(role, service, config));
  log.info({ role, url: service.url }, 'started');
  const signal = await stopping;
  log.info({ signal }, 'stopping');
  await Promise.race([service.stop(), outOfPatience(log), hurrying]);
  log.info('stopped');
  return 0;
}

function watchSignals() {
  const stop = Promise.withResolvers<string>();
  const hurry = Promise.withResolvers<null>();
  let since: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      since ??= Date.now();
      stop.resolve(signal);
      if (Date.now() - since > ECHO_MS) hurry.resolve(null);
    });
  }
  return { stopping: stop.promise, hurrying: hurry.promise };
}

function outOfPatience(log: Log): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      log.warn('work in flight did not finish in time and is cut off');
      resolve();
    }, PATIENCE_MS).unref();
  });
}

function greeting(role: Role, { url, firstOwner }: RunningService, config: Config): string {
  if (url === null || role === 'worker') return `Remediation Risk Service ${version}: the worker is running.\n`;
  const lines = [`Remediation Risk Service ${version} is running.`, '', `  Address            ${url}`, `  API documentation  ${url}/docs`];
  if (firstOwner) {
    const key = firstOwner.key ?? 'the one in RRS_BOOTSTRAP_API_KEY';
    lines.push(`  First owner key    ${key}`, '                     (organization "default"; shown only this once)');
    if (firstOwner.keyFile !== null) {
      lines.push(
        `  Also written to    ${firstOwner.keyFile} (for your eyes only)`,
        '',
        'Try it:',
        `  curl -H "Authorization: Bearer $(cat '${firstOwner.keyFile}')" ${url}/api/v1/me`,
      );
    }
  }
  if (config.DATABASE_URL === null) lines.push('', 'Ctrl-C stops it.');
  return `${lines.join('\n')}\n`;
}
