import { useState } from 'react';
import { FileDrop } from '../../../parts/file-drop.tsx';
import { bytes } from '../../../parts/words.ts';
import { CompareForm } from '../verifying/compare-form.tsx';
import { CannotVerify, Outcome } from '../verifying/outcome.tsx';
import { TrustForm } from '../verifying/trust-form.tsx';
import { sortFiles, useTrust } from '../verifying/use-trust.ts';
import { useVerification } from '../verifying/use-verification.ts';
import { canVerify } from '../verifying/verify.ts';
import { PublicFrame } from './public-frame.tsx';

/** Verifies any package, without an account. */
export function VerifyPage() {
  const [file, setFile] = useState<File | null>(null);
  const [earlier, setEarlier] = useState<File | null>(null);
  const [newer, setNewer] = useState<File | null>(null);
  const choice = useTrust();
  const verification = useVerification(file, choice.trusted, { earlier, newer });
  const choose = async (files: readonly File[]) => {
    const { packages, given } = await sortFiles(files);
    if (given.length > 0) choice.add(given);
    if (packages.length > 0) setFile(packages.at(-1) ?? null);
  };
  return (
    <PublicFrame title="Verify an evidence package">
      <p className="dim">The check runs in this browser. Neither the package nor your keys leave your computer.</p>
      {canVerify() ? (
        <>
          <TrustForm choice={choice} />
          <Package file={file} onFiles={(files) => void choose(files)} />
          {file && (
            <CompareForm
              choices={[
                { label: 'Earlier package', hint: 'The package must still show every event that this one showed.', file: earlier, onFile: setEarlier },
                { label: 'Newer package', hint: 'If it is verified too, the package is superseded.', file: newer, onFile: setNewer },
              ]}
            />
          )}
          <section aria-label="Result" aria-busy={verification.state === 'running'}>
            <Outcome verification={verification} name={file?.name ?? ''} />
          </section>
        </>
      ) : (
        <CannotVerify />
      )}
    </PublicFrame>
  );
}

function Package({ file, onFiles }: { file: File | null; onFiles: (files: File[]) => void }) {
  return (
    <FileDrop
      title="Drop a package here"
      hint="as a ZIP file, alone or together with keys"
      action={file ? 'Choose another package' : 'Choose a package'}
      onFiles={onFiles}
    >
      {file && (
        <p>
          <code>{file.name}</code> <span className="dim">{bytes(file.size)}</span>
        </p>
      )}
    </FileDrop>
  );
}
