import { Progress } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '../../../parts/states.tsx';
import { type Download, fetchFile } from '../fetch-file.ts';

/** Downloads the ZIP file of a package into this page. `progress` shows how far it is, and what went wrong. */
export function useDownload(downloads: readonly (Download & { format: string })[]) {
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const download = async (): Promise<void> => {
    const zip = downloads.find(({ format }) => format === 'zip');
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
  const progress = (
    <>
      {share !== null && <Progress value={share * 100} size="sm" w="100%" aria-label="Downloading the package" />}
      {problem !== null && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  return { file, setFile, share, download, progress };
}
