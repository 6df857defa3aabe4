import { openSharedChild } from '../../jobs/children/shared-child.ts';

const children = openSharedChild({ module: new URL('./careless-child.ts', import.meta.url), limits: { heapMb: 64, timeMs: 30_000 }, idleMs: 60_000 });

/** Prints the id of its child process, and waits to be killed. The child waits as well, or computes. */
const pid = String(await children.run('process id'));
const print = (): void => void process.stdout.write(pid);
if (process.argv[2] === 'computing') void children.run('compute', { answer: async () => void setImmediate(print) });
else print();
setInterval(() => {}, 60_000);
