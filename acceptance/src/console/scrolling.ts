import type { Page } from 'playwright-core';

interface Scrolled {
  /** Processor time of the page's thread for each position, in milliseconds. All rows on the screen are new there. */
  busy: number[];
  /** How long each frame took on the clock, in milliseconds. */
  frames: number[];
  /** Memory of the scripts after everything that nobody needs is collected, in megabytes. */
  heapMb: number;
}

const FRAME = 'new Promise((done) => requestAnimationFrame(done))';

/** Scrolls a list by eight screens at a time until it shows the row at this position, counted from one. */
export async function scrollToRow(page: Page, row: number): Promise<Scrolled> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const metric = async (name: string): Promise<number> =>
    (await devtools.send('Performance.getMetrics')).metrics.find((each) => each.name === name)?.value ?? 0;
  // One frame to draw what was scrolled to, and one more until it is on the screen.
  const step = `(async () => {
    const grid = document.querySelector('[role=grid]');
    const frames = [];
    grid.scrollBy(0, 8 * grid.clientHeight);
    for (let last = performance.now(), frame = 0; frame < 2; frame++) {
      await ${FRAME};
      frames.push(performance.now() - last);
      last = performance.now();
    }
    const rows = grid.querySelectorAll('tbody [role=row]');
    return { frames, at: Number(rows[rows.length - 1]?.getAttribute('aria-rowindex') ?? 0) - 1 };
  })()`;
  const frames: number[] = [];
  const busy: number[] = [];
  let before = await metric('TaskDuration');
  for (let at = 0; at < row; ) {
    const moved = await page.evaluate<{ frames: number[]; at: number }>(step);
    const now = await metric('TaskDuration');
    busy.push((now - before) * 1000);
    before = now;
    frames.push(...moved.frames);
    at = moved.at;
  }
  await devtools.send('HeapProfiler.collectGarbage');
  const heap = await metric('JSHeapUsedSize');
  await devtools.detach();
  return { busy, frames, heapMb: heap / 1e6 };
}

/** How long frames take while the page does nothing: the noise of the machine. */
export async function idleFrames(page: Page, count: number): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const frames = [];
    for (let last = performance.now(); frames.length < ${count}; last = performance.now()) {
      await ${FRAME};
      frames.push(performance.now() - last);
    }
    return frames;
  })()`);
}

/** Runs in the page, before its scripts: lists of findings consist of copies of one row. */
export function madeUpFindings({ row, pages }: { row: unknown; pages: number }): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.pathname !== '/api/v1/findings') return real(input, init);
    const at = Number(url.searchParams.get('cursor') ?? '0');
    const data = Array.from({ length: 100 }, (_, index) => {
      const number = at * 100 + index + 1;
      return { ...(row as object), id: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`, title: `Row ${number}` };
    });
    const cursors = { next_cursor: at + 1 < pages ? String(at + 1) : null, prev_cursor: at > 0 ? String(at - 1) : null };
    return Response.json({ data, page: { ...cursors, total: at === 0 ? { count: pages * 100, relation: 'exact' } : null } });
  };
}
