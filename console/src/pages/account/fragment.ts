/** Threat: a secret could end up in a log or in the history. It stays in the fragment, which browsers never send, and is removed from the address. */
export function takeFromFragment(name: string): string {
  const secret = new URLSearchParams(location.hash.slice(1)).get(name) ?? '';
  if (secret !== '') history.replaceState(null, '', location.pathname);
  return secret;
}
