import { openSharedChild } from '../../jobs/children/shared-child.ts';

const children = openSharedChild({ module: new URL('./careless-child.ts', import.meta.url), limits: { heapMb: 64, timeMs: 30_000 }, idleMs: 60_000 });

/** Prints the id of its child process, and waits to be killed. */
process.stdout.write(String(await children.run('process id')));
setInterval(() => {}, 60_000);
