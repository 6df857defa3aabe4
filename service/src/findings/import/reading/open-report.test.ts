import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openReport } from './open-report.ts';

/** A stored file whose second part cannot be read. */
function damagedFile() {
  let asked = 0;
  const closed: number[] = [];
  return {
    closed,
    open: async () => 7,
    next: async () => {
      if (++asked > 1) throw new Error('the disk is gone');
      return Buffer.from('{}');
    },
    close: async (reader: number) => void closed.push(reader),
  };
}

it('a read that fails while earlier bytes are processed is noticed when its bytes are needed, and the file is closed', async () => {
  const file = damagedFile();
  const seen: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const chunk of openReport(null, file).open()) {
      seen.push(String(chunk));
      // Node reports rejections that nobody handles after such a turn, and Vitest fails.
      for (let n = 0; n < 3; n++) await turn();
    }
  };
  await expect(reading()).rejects.toThrow('the disk is gone');
  expect({ seen, closed: file.closed }).toEqual({ seen: ['{}'], closed: [7] });
});

it('a report that is refused before the read fails keeps its reason', async () => {
  const file = damagedFile();
  const reading = async (): Promise<void> => {
    for await (const _ of openReport(null, file).open()) throw new Error('not a report');
  };
  await expect(reading()).rejects.toThrow('not a report');
  expect(file.closed).toEqual([7]);
});
