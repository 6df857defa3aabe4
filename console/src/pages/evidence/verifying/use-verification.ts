import { useEffect, useState } from 'react';
import type { Others, Trusted, Verified } from './protocol.ts';
import { verifyHere } from './verify.ts';

export type Verification =
  | { state: 'idle' }
  | { state: 'running'; share: number }
  | { state: 'done'; verified: Verified }
  /** A key or another given file cannot be used. It says nothing about the package. */
  | { state: 'refused'; reason: string };

/** Verifies a file, and verifies it again when what the person trusts or compares it with changes. `trusted` is null until it is known. */
export function useVerification(file: Blob | null, trusted: Trusted | null, { earlier = null, newer = null }: Others = {}): Verification {
  const [verification, setVerification] = useState<Verification>({ state: 'idle' });
  useEffect(() => {
    if (file === null || trusted === null) {
      setVerification({ state: 'idle' });
      return;
    }
    const run = new AbortController();
    const set = (next: Verification) => {
      if (!run.signal.aborted) setVerification(next);
    };
    set({ state: 'running', share: 0 });
    verifyHere({ file, ...trusted, earlier, newer }, { signal: run.signal, onShare: (share) => set({ state: 'running', share }) }).then(
      (verified) => set({ state: 'done', verified }),
      (error: unknown) => set({ state: 'refused', reason: error instanceof Error ? error.message : String(error) }),
    );
    return () => run.abort();
  }, [file, trusted, earlier, newer]);
  return verification;
}
