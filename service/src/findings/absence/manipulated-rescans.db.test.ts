import { describe, expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';
import { falselyVerified, manipulatedRescans, trulyVerified } from '../../testing/truth/rescans.ts';

const engine = useImports();

describe('a manipulated rescan verifies nothing', () => {
  it.each(manipulatedRescans(1))('$name ($format, $seed)', async (rescan) => {
    expect(await falselyVerified(engine, rescan)).toEqual([]);
  });

  it.each(['trivy', 'grype', 'nessus'] as const)('while a scan that is as able does (%s)', async (format) => {
    expect(await trulyVerified(engine, format)).toBeGreaterThan(0);
  });
});
