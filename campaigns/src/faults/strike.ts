import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../service/src/testing/truth/random.ts';
import { kill, postgresChildren, postgresPid, type Service, ServiceEnded, startService } from '../processes.ts';
import type { Victim } from './plan.ts';
import type { upgrades } from './upgrades.ts';

const MAX_START_MS = 2_500;

interface Strike {
  service: Service;
  dataDir: string;
  settings: Record<string, string>;
  random: Random;
  upgrading: ReturnType<typeof upgrades>;
}

/** Kills the victim. Returns the service that runs afterwards. */
export async function strike(victim: Victim, { service, dataDir, settings, random, upgrading }: Strike): Promise<Service> {
  if (victim === 'migration') kill(upgrading.current);
  if (victim === 'backend') {
    const backends = postgresChildren(dataDir);
    kill(backends[random.number(Math.max(1, backends.length))] ?? null);
  }
  if (victim === 'database') kill(postgresPid(dataDir));
  if (victim !== 'service' && victim !== 'both' && victim !== 'starting service') return service;
  const postgres = postgresPid(dataDir);
  kill(service.pid);
  if (victim === 'both') kill(postgres);
  await service.exit;
  if (victim !== 'starting service') return startService(dataDir, settings);
  let pid: number | null = null;
  const starting = startService(dataDir, settings, (spawned) => {
    pid = spawned;
  }).catch((error: unknown) => {
    if (error instanceof ServiceEnded) return null;
    throw error;
  });
  await Promise.race([starting, delay(random.number(MAX_START_MS))]);
  kill(pid);
  const killed = await starting;
  await killed?.exit;
  return startService(dataDir, settings);
}
