import { type Collector, check, collect } from '../../integrations/sync/collect.ts';

/** Runs connectors in the process of the test, which is faster than to start another one. */
export const directCollector: Collector = { collect, check };
