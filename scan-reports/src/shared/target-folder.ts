/**
 * The option of a scan of one folder, if the tool was told a relative path: such a scan says nothing about the rest of the repository. A checkout can have another
 * absolute path every time, so those say nothing.
 */
export function folderRestriction(path: string | undefined): string[] {
  const parts = (path ?? '').replaceAll('\\', '/').split('/');
  const isRelative = parts[0] !== '' && !/^[a-z]:|:\/\/|@/i.test(path ?? '') && !/\.[a-z]{2,}$/i.test(parts.length > 1 ? (parts[0] ?? '') : '');
  const folder = parts.filter((part) => part !== '' && part !== '.').join('/');
  return isRelative && folder !== '' ? [`target ${folder}`] : [];
}
