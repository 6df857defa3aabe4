import type { Asset } from '@rrs/scan-reports';
import { afterAll, beforeAll } from 'vitest';
import { startApi, type TestApi } from '../http/api.ts';
import { type Engine, type ImportOptions, type Item, useImports } from './imports.ts';

/** The import job and the API over one database. Imports run for the organization `api().ours`. `prepare` is called before the API starts. */
export function useImportsWithApi(prepare?: (engine: Engine) => Promise<void>) {
  const engine = useImports();
  let api: TestApi;
  beforeAll(async () => {
    await prepare?.(engine);
    api = await startApi({ database: { url: engine.url(), drop: async () => {} } });
  });
  afterAll(() => api?.close());
  const send = (method: string, path: string, body?: object) => api.call(method, `/api/v1${path}`, { as: api.ours.owner, ...(body ? { body } : {}) });

  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await send('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body as T;
  };

  const run = (...[items, options]: Parameters<typeof engine.run> extends [string, ...infer Rest] ? Rest : never) => engine.run(api.ours.id, items, options);

  return {
    api: () => api,
    engine,
    run,
    /** A complete scan of the asset, on a day of January 2026. */
    scan: (asset: Asset, items: readonly Item[], day: number, source: ImportOptions['source'] = 'tool_a') =>
      run([...items, { run: { asset } }], { source, scope: { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day, 12)).toISOString() } }),
    send,
    get,
    /** The finding with this weakness, as the API shows it. */
    async finding<T = Record<string, unknown>>(weakness: string): Promise<T & { id: string }> {
      const { rows } = await engine
        .admin()
        .query('select id from findings where org_id = $1 and weakness = $2 and merged_into is null', [api.ours.id, weakness]);
      if (rows.length !== 1) throw new Error(`${rows.length} findings of ${weakness}`);
      return get(`/findings/${rows[0].id}`);
    },
  };
}
