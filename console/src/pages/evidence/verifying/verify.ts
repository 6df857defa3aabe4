import type { Answer, Task, Verified } from './protocol.ts';
import workerUrl from './verify-worker.ts?worker&url';

/** Browsers that enforce Trusted Types start a worker only from an address that a policy allowed. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('rrs-worker', {
  createScriptURL: (url) => {
    if (url !== workerUrl) throw new Error('This is not the worker of the console.');
    return url;
  },
});

/** Browsers offer the functions that check signatures only on https and on this computer. */
export const canVerify = (): boolean => globalThis.crypto?.subtle !== undefined;

const start = (): Worker => new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' });

/** Started with the page, so that nothing is requested once somebody chose a package. */
let idle: Worker | null = canVerify() ? start() : null;

/** Verifies a package in this browser. Rejects if one of the given files cannot be used. */
export async function verifyHere(task: Task, { signal, onShare }: { signal: AbortSignal; onShare: (share: number) => void }): Promise<Verified> {
  const worker = idle ?? start();
  idle = null;
  const done = new AbortController();
  try {
    return await new Promise<Verified>((resolve, reject) => {
      const listening = { signal: done.signal };
      const receive = ({ data }: MessageEvent<Answer>) => {
        if ('share' in data) return onShare(data.share);
        idle = worker;
        if ('verified' in data) resolve(data.verified);
        else reject(new Error(data.refused));
      };
      worker.addEventListener('message', receive, listening);
      worker.addEventListener('error', () => reject(new Error('The verifier stopped. Reload the page, or use the program rrs-verify.')), listening);
      signal.addEventListener('abort', () => reject(signal.reason), listening);
      worker.postMessage(task);
    });
  } finally {
    done.abort();
    if (idle !== worker) {
      // It is still busy with a package that nobody waits for any more.
      worker.terminate();
      idle ??= start();
    }
  }
}
