#!/usr/bin/env node
import { launch } from '../../scripts/launch.mjs';

// Of the sources. The package runs src/cli/run.ts without this, on every Node that npm supports.
await launch(
  { url: import.meta.url, program: 'rrs-verify', failure: 2, otherwise: ', or open rrs-verify.html in a browser' },
  () => import('../src/cli/run.ts'),
);
