import type { Config } from './config.ts';
import { type Log, version } from './log.ts';
import type { Role } from './parts.ts';
import { type RunningService, startService } from './service.ts';

const STOP_TIMEOUT_MS = 25_000;
// Ctrl-C arrives twice, from the terminal and from npm. Signals within this time count as one.
const SAME_SIGNAL_MS = 1_000;

/** Runs until a signal, then waits for requests and jobs in flight. A second signal stops the process without waiting. */
export async function runService(role: Role, config: Config, log: Log): Promise<number> {
  const { stopSignal, secondSignal } = watchSignals();
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception, exiting');
    process.exit(1);
  });
  const service = await Promise.race([startService(role, config, log), secondSignal]);
  if (service === null) return 1;
  process.stdout.write(greeting(role, service, config));
  log.info({ role, url: service.url }, 'started');
  const signal = await stopSignal;
  log.info({ signal }, 'stopping');
  await Promise.race([service.stop(), stopTimeout(log), secondSignal]);
  log.info('stopped');
  return 0;
}

function watchSignals() {
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<null>();
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      firstAt ??= Date.now();
      first.resolve(signal);
      if (Date.now() - firstAt > SAME_SIGNAL_MS) second.resolve(null);
    });
  }
  return { stopSignal: first.promise, secondSignal: second.promise };
}

function stopTimeout(log: Log): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => {
      log.warn('requests or jobs did not finish in time and were aborted');
      resolve();
    }, STOP_TIMEOUT_MS).unref();
  });
}

function greeting(role: Role, { url, firstOwner, setup }: RunningService, config: Config): string {
  if (url === null || role === 'worker') return `Remediation Risk Service ${version}: the worker is running.\n`;
  const lines = [`Remediation Risk Service ${version} is running.`, '', `  Address            ${url}`, `  API documentation  ${url}/docs`];
  if (setup) {
    const link = setup.key === null ? `${url}/setup#key= and the content of ${setup.file}` : `${url}/setup#key=${setup.key}`;
    lines.push(`  Set up             ${link}`, '                     (creates the first owner; works once)');
  }
  if (firstOwner) {
    const key = firstOwner.key ?? '(the value of RRS_BOOTSTRAP_API_KEY)';
    lines.push(`  First owner key    ${key}`, '                     (organization "default"; not shown again)');
    if (firstOwner.keyFile !== null) {
      lines.push(
        `  Key file           ${firstOwner.keyFile} (readable only by you)`,
        '',
        'Try it:',
        `  curl -H "Authorization: Bearer $(cat '${firstOwner.keyFile}')" ${url}/api/v1/me`,
      );
    }
  }
  if (config.DATABASE_URL === null) lines.push('', 'Press Ctrl-C to stop.');
  return `${lines.join('\n')}\n`;
}
