import { main } from '../main.ts';

/** Runs a command without a terminal, and without settings unless the last argument has some, and returns what it printed. */
export async function printed(...given: (string | Record<string, string>)[]): Promise<{ code: number; out: string; err: string }> {
  const args = given.filter((one) => typeof one === 'string');
  const env = given.find((one) => typeof one === 'object') ?? {};
  const texts = { out: '', err: '' };
  const write = (to: keyof typeof texts) => (text: string | Uint8Array) => {
    texts[to] += text;
  };
  const code = await main(args, { terminal: { out: write('out'), err: write('err'), color: false, live: false, width: 80 }, env, folder: '/' });
  return { code, ...texts };
}
