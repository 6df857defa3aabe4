import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where the programs that campaigns start keep what they compiled. */
export const compileCache = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'rrs-campaign-compiled');
