/** Runs work with the same key one after the other, in the order of the calls, and work with different keys side by side. */
export function createQueues() {
  const last = new Map<string, Promise<void>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    last.set(key, promise);
    await before;
    try {
      return await work();
    } finally {
      resolve();
      if (last.get(key) === promise) last.delete(key);
    }
  };
}
