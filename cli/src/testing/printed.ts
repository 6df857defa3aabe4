import { main } from '../main.ts';

/** Runs a command without a terminal and without settings, and returns what it printed. */
export async function printed(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: '', err: '' };
  const write = (to: keyof typeof texts) => (text: string | Uint8Array) => {
    texts[to] += text;
  };
  const code = await main(args, { terminal: { out: write('out'), err: write('err'), color: false, live: false, width: 80 }, env: {}, folder: '/' });
  return { code, ...texts };
}
