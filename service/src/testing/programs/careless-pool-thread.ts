import { serveTasks } from '../../jobs/serve-thread.ts';

let served = 0;

/** Tasks that a pool of threads must survive. A number asks a question twice. */
serveTasks(async (task, ask) => {
  served++;
  switch (task) {
    case 'memory': {
      const kept: object[] = [];
      for (;;) kept.push(Array.from({ length: 1000 }, () => ({})));
    }
    case 'time':
      for (;;);
    case 'exit':
      return process.exit(7);
    case 'throw':
      throw new Error('no such luck');
    case 'left behind':
      setTimeout(() => void ask('left behind'), 50);
      throw new Error('no such luck');
    case 'served':
      return served;
    default:
      await new Promise((resolve) => setTimeout(resolve, 100));
      return Promise.all([ask(task), ask(task)]);
  }
});
