import { type Collector, check, collect } from '../../integrations/sync/collect.ts';

/** Runs connectors on the thread of the test, which is faster than to start another one. */
export const directCollector: Collector = { collect, check };
