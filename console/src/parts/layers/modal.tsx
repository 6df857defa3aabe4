import type { ModalProps } from '@mantine/core';
import { lazy, Suspense } from 'react';

const read = () => import('./modal-code.tsx');
const Loaded = lazy(async () => ({ default: (await read()).LoadedModal }));

/** A dialog of Mantine. Its code is a tenth of what a page loads, so it comes after the page: see `readLayers`. */
export function Modal(props: ModalProps) {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}

/** Loads the code of dialogs when the browser has nothing else to do, so that the first one opens at once. */
export function readLayers(): void {
  // Safari has no requestIdleCallback.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(() => void read());
  else setTimeout(() => void read(), 2000);
}
