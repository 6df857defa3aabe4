import { Button, Progress } from '@mantine/core';
import { useState } from 'react';
import { Section } from '../../../parts/page.tsx';
import { messageOf } from '../../../parts/states.tsx';
import { fetchFile } from '../fetch-file.ts';
import { CannotVerify, Outcome } from '../verifying/outcome.tsx';
import { TrustForm } from '../verifying/trust-form.tsx';
import { useTrust } from '../verifying/use-trust.ts';
import { useVerification } from '../verifying/use-verification.ts';
import { canVerify } from '../verifying/verify.ts';
import type { Package } from './package.ts';
import css from './package-page.module.css';

/** Downloads the package and verifies it in this browser, as its recipients do. */
export function VerifyStored({ found }: { found: Package }) {
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const choice = useTrust();
  const verification = useVerification(file, choice.trusted);
  const [zip] = found.downloads;
  const verify = async () => {
    if (zip === undefined) return;
    setProblem(null);
    setShare(0);
    try {
      setFile(await fetchFile(zip, setShare));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setShare(null);
  };
  if (!canVerify()) return <CannotVerify />;
  return (
    <div className={css.narrow}>
      <TrustForm choice={choice} />
      <Section title="Result">
        {share !== null && <Progress value={share * 100} size="sm" aria-label="Downloading the package" />}
        {problem !== null && (
          <p className="bad" role="alert">
            {problem}
          </p>
        )}
        {file === null && share === null && <Button onClick={() => void verify()}>Download and verify in this browser</Button>}
        <Outcome verification={verification} name={file?.name ?? ''} />
      </Section>
    </div>
  );
}
