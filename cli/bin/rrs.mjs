#!/usr/bin/env node
import { launch } from '../../scripts/launch.mjs';

// Of the sources. The package runs src/bin/rrs.ts without this, on every Node that npm supports.
await launch({ url: import.meta.url, program: 'rrs', failure: 3 }, () => import('../src/bin/rrs.ts'));
