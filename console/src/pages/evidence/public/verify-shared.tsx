import { Button } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { FileDrop } from '../../../parts/file-drop.tsx';
import { Section } from '../../../parts/page.tsx';
import { saveFile } from '../fetch-file.ts';
import { CannotVerify, Outcome } from '../verifying/outcome.tsx';
import { TrustForm } from '../verifying/trust-form.tsx';
import { useDownload } from '../verifying/use-download.tsx';
import { sortFiles, useTrust } from '../verifying/use-trust.ts';
import { useVerification } from '../verifying/use-verification.ts';
import { canVerify } from '../verifying/verify.ts';
import css from './shared-page.module.css';

type Shared = ResultOf<'getSharedEvidencePackage'>;

/** The package is downloaded once, verified here, and can be saved without downloading it again. */
export function VerifyShared({ shared, onDownload }: { shared: Shared; onDownload: () => void }) {
  const { file, setFile, share, download, progress } = useDownload(shared.downloads);
  const choice = useTrust();
  const verification = useVerification(file, choice.trusted);
  const choose = async (files: readonly File[]) => {
    const { packages, given } = await sortFiles(files);
    if (given.length > 0) choice.add(given);
    if (packages.length > 0) setFile(packages.at(-1) ?? null);
  };
  if (!canVerify())
    return (
      <Section title="Verify">
        <CannotVerify />
      </Section>
    );
  return (
    <Section title="Verify">
      <div className={css.step}>
        <p>Do not take the sender’s word for it: this browser can check the package with the keys that you trust. The package does not leave your computer.</p>
        {share === null && (
          <div className={css.buttons}>
            {shared.remaining_downloads !== 0 && file === null && (
              <Button onClick={() => void download().then(onDownload)} variant="default">
                Download and verify here{shared.remaining_downloads === null ? '' : ' (counts as a download)'}
              </Button>
            )}
            {file !== null && (
              <Button onClick={() => saveFile(file)} variant="default">
                Save the verified file
              </Button>
            )}
          </div>
        )}
        {progress}
      </div>
      <section aria-label="Result" aria-busy={verification.state === 'running'}>
        <Outcome verification={verification} name={file?.name ?? ''} />
      </section>
      <details className={css.all}>
        <summary>Verify a file that you have, or choose what you trust</summary>
        <TrustForm choice={choice} />
        <FileDrop
          title="Drop the package here"
          hint="as a ZIP file, alone or together with keys"
          action="Choose a package"
          onFiles={(files) => void choose(files)}
        />
      </details>
    </Section>
  );
}
