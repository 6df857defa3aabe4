import type { Config } from './config.ts';
import { type Log, version } from './log.ts';
import { type Role, type RunningService, startService } from './service.ts';

const PATIENCE_MS = 25_000;

/** Runs until a signal, then lets requests and jobs in flight finish. A second signal does not wait for them. */
export async function runService(role: Role, config: Config, log: Log): Promise<number> {
  const stopping = signalled();
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an unexpected error ended the service');
    process.exit(1);
  });
  const service = await startService(role, config, log);
  process.stdout.write(greeting(role, service, config));
  log.info({ role, url: service.url }, 'started');
  const signal = await stopping;
  log.info({ signal }, 'stopping');
  await Promise.race([service.stop(), outOfPatience(log), signalled()]);
  log.info('stopped');
  return 0;
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
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
