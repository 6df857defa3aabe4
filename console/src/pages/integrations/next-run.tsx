import { Time } from '../../parts/time.tsx';

/** When a connection runs again. A run whose time has come starts within a minute. */
export function NextRun({ at }: { at: string | null | undefined }) {
  return at && Date.parse(at) <= Date.now() ? 'due' : <Time at={at} />;
}
