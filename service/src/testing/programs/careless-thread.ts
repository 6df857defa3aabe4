import { serveThread } from '../../jobs/serve-thread.ts';

/** Work that a thread must survive in the eyes of its process. */
await serveThread(async (input, ask) => {
  switch (input) {
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
    default:
      return ask(input);
  }
});
