import { serveTasks } from '../../jobs/children/serve-tasks.ts';

let served = 0;

/** Tasks that whoever started this child must survive. A number asks a question twice. */
serveTasks(async (task, ask) => {
  served++;
  switch (task) {
    case 'memory': {
      // In a thread with a limit of memory, so much at once would end the whole process.
      const kept: number[][] = [];
      for (;;) kept.push(new Array(12_000_000).fill(1.5));
    }
    case 'time':
      for (;;);
    case 'compute':
      await ask('may I?');
      for (;;);
    case 'exit':
      return process.exit(7);
    case 'throw':
      throw new Error('no such luck');
    case 'reject':
      void Promise.reject(new Error('nobody listens'));
      return new Promise(() => {});
    case 'left behind':
      setTimeout(() => void ask('left behind'), 50);
      throw new Error('no such luck');
    case 'served':
      return served;
    case 'process id':
      return process.pid;
    default:
      await new Promise((resolve) => setTimeout(resolve, 100));
      return Promise.all([ask(task), ask(task)]);
  }
});
