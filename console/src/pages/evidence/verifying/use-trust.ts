import { useMemo, useState } from 'react';
import { useApi } from '../../../api/client.ts';
import type { GivenFile, Trusted } from './protocol.ts';

/** What the person trusts. It stays in this page: nothing of it is stored or sent. */
export function useTrust() {
  const [usesService, setUsesService] = useState(true);
  const [given, setGiven] = useState<readonly GivenFile[]>([]);
  const [organization, setOrganization] = useState('');
  const [origin, setOrigin] = useState('');
  // Read once, when the page opens: after that, verifying needs no connection.
  const keys = useApi('listEvidenceKeys', {}, { staleTime: Number.POSITIVE_INFINITY });
  const published = keys.data;
  const trusted = useMemo((): Trusted | null => {
    if (usesService && published === undefined) return null;
    const list = usesService ? [{ name: 'The list of keys of this service', text: JSON.stringify(published) }] : [];
    return { files: [...list, ...given], organization, origin };
  }, [usesService, published, given, organization, origin]);
  return {
    trusted,
    keys,
    usesService,
    setUsesService,
    given,
    add: (files: readonly GivenFile[]) => setGiven((before) => [...before.filter(({ name }) => !files.some((file) => file.name === name)), ...files]),
    remove: (name: string) => setGiven((before) => before.filter((file) => file.name !== name)),
    organization,
    setOrganization,
    origin,
    setOrigin,
  };
}

export type TrustChoice = ReturnType<typeof useTrust>;

const MAX_GIVEN_BYTES = 4_000_000;

/** People drop packages and keys together. Packages are ZIP files; everything else is small text. */
export async function sortFiles(files: readonly File[]): Promise<{ packages: File[]; given: GivenFile[] }> {
  const packages: File[] = [];
  const given: GivenFile[] = [];
  for (const file of files) {
    if (/\.zip$/i.test(file.name) || file.size > MAX_GIVEN_BYTES || (await file.slice(0, 2).text()) === 'PK') packages.push(file);
    else given.push({ name: file.name, text: await file.text() });
  }
  return { packages, given };
}
