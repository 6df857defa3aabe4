import { Button } from '@mantine/core';
import { Section } from '../../../parts/page.tsx';
import { CannotVerify, Outcome } from '../verifying/outcome.tsx';
import { TrustForm } from '../verifying/trust-form.tsx';
import { useDownload } from '../verifying/use-download.tsx';
import { useTrust } from '../verifying/use-trust.ts';
import { useVerification } from '../verifying/use-verification.ts';
import { canVerify } from '../verifying/verify.ts';
import type { Package } from './package.ts';
import css from './package-page.module.css';

/** Downloads the package and verifies it in this browser, as its recipients do. */
export function VerifyStored({ found }: { found: Package }) {
  const { file, share, download, progress } = useDownload(found.downloads);
  const choice = useTrust();
  const verification = useVerification(file, choice.trusted);
  if (!canVerify()) return <CannotVerify />;
  return (
    <div className={css.narrow}>
      <TrustForm choice={choice} />
      <Section title="Result">
        {progress}
        {file === null && share === null && <Button onClick={() => void download()}>Download and verify in this browser</Button>}
        <Outcome verification={verification} name={file?.name ?? ''} />
      </Section>
    </div>
  );
}
