import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isUnavailable } from '../db/unavailable.ts';

const RETRY_MS = 100;
/** An error with this code, that of a serialization failure, makes the queue repeat the statement after some 50 ms. With the codes of broken connections, it waits for seconds. */
const REPEATABLE = '40001';

/**
 * A pool for the queue that outlives its database. The queue marks jobs as done or failed without waiting for the result, and an error that it does not
 * know ends the process. Therefore a connection is waited for until the database is back, and a statement whose connection broke gets a code
 * with which the queue repeats it. Its statements can be repeated: they change only jobs that are still locked by this worker.
 */
export function patientPool(pool: pg.Pool, isStopping: () => boolean): pg.Pool {
  const connect = async (): Promise<pg.PoolClient> => {
    for (;;) {
      try {
        return patientClient(await pool.connect());
      } catch (error) {
        if (isStopping() || !isUnavailable(error)) throw error;
        await delay(RETRY_MS);
      }
    }
  };
  return new Proxy(pool, {
    get(target, name) {
      // With a callback, the queue connects to listen for new jobs. By itself, it would wait longer after each failure.
      if (name === 'connect') return (callback?: Connected) => (callback === undefined ? connect() : void callBack(connect(), callback));
      return boundTo(target, name);
    },
  });
}

type Connected = Parameters<pg.Pool['connect']>[0];

async function callBack(connecting: Promise<pg.PoolClient>, callback: Connected): Promise<void> {
  const [client, error] = await connecting.then(
    (connected) => [connected, undefined] as const,
    (failure: Error) => [undefined, failure] as const,
  );
  callback(error, client, (broken) => client?.release(broken));
}

function patientClient(client: pg.PoolClient): pg.PoolClient {
  return new Proxy(client, {
    get(target, name) {
      const value = boundTo(target, name);
      if (name !== 'query' || typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        try {
          return await value(...given);
        } catch (error) {
          throw isUnavailable(error) ? Object.assign(new Error('the connection to the database broke', { cause: error }), { code: REPEATABLE }) : error;
        }
      };
    },
  });
}

function boundTo(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? value.bind(target) : value;
}
