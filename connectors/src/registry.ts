import type { Connector } from './contract.ts';
import { snyk } from './scanners/snyk/index.ts';

/** Every vendor, one line each. The catalog, the tests and the documentation follow from it. */
export const connectors: readonly Connector[] = [snyk];
