import type { Static } from 'typebox';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import { ChildFailure, type ChildLimits } from '../../jobs/children/child.ts';
import { openChildPool } from '../../jobs/children/child-pool.ts';
import { createSlots } from '../../jobs/slots.ts';
import { AppError } from '../../shared/errors.ts';
import type { ItemState, ItemStates } from '../../work-items/approvals/state.ts';
import { readItem } from '../../work-items/items/read.ts';
import type { PackagePreview } from '../schemas-packages.ts';
import type { PreviewTask } from './compute.ts';
import { stateFingerprint } from './fingerprint.ts';
import type { StateOrPreview, Task } from './preview-child.ts';

const LIMITS: ChildLimits = { heapMb: 1024, timeMs: 120_000 };
const MAX_WAITING = 32;
const IDLE_MS = 60_000;

export interface Previews {
  states: ItemStates;
  preview(task: PreviewTask): Promise<Static<typeof PackagePreview>>;
  close(): Promise<void>;
}

/** Computes what packages would state in a child process: for 10,000 findings it takes seconds, in which nobody else would get an answer. */
export function openPreviews({ db, databaseUrl, blobs }: { db: Database; databaseUrl: string; blobs: BlobStore }): Previews {
  const slots = createSlots({ running: 1, waiting: MAX_WAITING, refusal: 'Too many states of work items are being computed.' });
  const children = openChildPool({ module: new URL('./preview-child.ts', import.meta.url), limits: LIMITS, slots, idleMs: IDLE_MS });

  async function areStored(sha256: string[]): Promise<string[]> {
    const stored: string[] = [];
    for (const one of new Set(sha256)) if (await blobs.stat(one)) stored.push(one);
    return stored;
  }
  const run = (task: StateOrPreview): Promise<unknown> =>
    children.run({ databaseUrl, ...task } satisfies Task, { answer: areStored }).catch((error: unknown) => Promise.reject(problemOf(error)));

  return {
    states: {
      compute: async (actor, workItemId, seen) => (await run({ state: { actor, workItemId, seen } })) as ItemState,
      fingerprint: stateFingerprint,
    },
    async preview(task) {
      await db.withTenant(task.actor, (tx) => readItem(tx, task.actor.orgId, task.workItemId));
      return (await run({ preview: task })) as Static<typeof PackagePreview>;
    },
    close: () => children.close(),
  };
}

function problemOf(error: unknown): unknown {
  if (!(error instanceof ChildFailure)) return error;
  return new AppError(
    'unavailable',
    `Computing what the evidence of the work item states ${error.message}. Retry, or split the work item if it happens again.`,
    {
      cause: error,
      headers: { 'retry-after': '5' },
    },
  );
}
