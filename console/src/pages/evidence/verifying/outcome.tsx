import { Progress } from '@mantine/core';
import { AlertIcon } from '@primer/octicons-react';
import css from './outcome.module.css';
import { VerificationReport } from './report.tsx';
import type { Verification } from './use-verification.ts';

/** How far a verification is, and what came out of it. */
export function Outcome({ verification, name }: { verification: Verification; name: string }) {
  if (verification.state === 'idle') return null;
  if (verification.state === 'done') return <VerificationReport verified={verification.verified} />;
  if (verification.state === 'refused')
    return (
      <p className={css.refused} role="alert">
        <AlertIcon size={16} aria-hidden /> Nothing was verified. {verification.reason}
      </p>
    );
  return (
    <div className={css.running} role="status">
      <span>Checking {name}</span>
      <Progress value={verification.share * 100} size="sm" aria-label={`Checking ${name}`} />
    </div>
  );
}

/** Shown where browsers withhold the functions that check signatures. */
export function CannotVerify() {
  return (
    <p className={css.refused} role="alert">
      <AlertIcon size={16} aria-hidden /> This browser checks signatures only on https pages and on the computer of the service. Open this page with https, or
      verify the package with the program rrs-verify.
    </p>
  );
}
