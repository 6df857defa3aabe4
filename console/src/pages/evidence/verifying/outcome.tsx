import { Button, Progress } from '@mantine/core';
import { AlertIcon } from '@primer/octicons-react';
import { saveFile } from '../fetch-file.ts';
import css from './outcome.module.css';
import type { Verified } from './protocol.ts';
import { VerificationReport } from './report.tsx';
import type { Verification } from './use-verification.ts';

/** How far a verification is, and what came out of it. */
export function Outcome({ verification, name }: { verification: Verification; name: string }) {
  if (verification.state === 'idle') return null;
  if (verification.state === 'done')
    return (
      <>
        <VerificationReport verified={verification.verified} />
        <p className={css.save}>
          <Button variant="default" onClick={() => saveResult(name, verification.verified)}>
            Save this result
          </Button>
        </p>
      </>
    );
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

/** For the records of whoever verified the package. */
function saveResult(name: string, { report }: Verified): void {
  const result = { file: name, verified_at: new Date().toISOString(), ...report };
  saveFile(new File([JSON.stringify(result, null, 2)], `${name.replace(/\.zip$/i, '')}-verification.json`, { type: 'application/json' }));
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
