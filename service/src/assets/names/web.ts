/** Scheme, host and port of an address in their normal form: `https://shop.example.com`. Null if the text has no scheme and host. */
export function normalOrigin(text: string): string | null {
  return parse(text)?.origin ?? null;
}

/**
 * The normal form of a page's address: its origin and path, and the names of its query parameters in alphabetical order. Values and the fragment are
 * left out, because scanners put payloads and session ids there, which are different in every scan.
 */
export function normalUrl(text: string): string {
  const url = parse(text);
  if (url === null) return text.trim().split(/[?#]/, 1).join('');
  const names = [...new Set(url.searchParams.keys())].sort().map(encodeURIComponent);
  return `${url.origin}${url.pathname}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}

/** The normal name of a web application: its origin, and its path if it has one, without a slash at the end. Null if the text has no scheme and host. */
export function normalWebApplication(text: string): string | null {
  const url = parse(text);
  return url && `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/** Host and port of an application whose scheme is not known: `shop.example.com`, `shop.example.com:8443`. Null if the text is something else. */
export function webHost(text: string): string | null {
  const url = parse(text) ?? (/^[^\s/?#@:]+(?::\d+)?(?:\/|$)/.test(text.trim()) ? parse(`https://${text.trim()}`) : null);
  return url === null ? null : url.origin.replace(/^[a-z]+:\/\//, '');
}

function parse(text: string): { origin: string; pathname: string; searchParams: URLSearchParams } | null {
  const [, scheme] = /^(https?|wss?):\/\//i.exec(text.trim()) ?? [];
  const url = scheme === undefined ? null : URL.parse(text.trim());
  if (url === null) return null;
  const host = url.host.replace(/(?<=[^.])\.(?=:\d+$|$)/, '');
  return { origin: `${url.protocol}//${host}`, pathname: url.pathname, searchParams: url.searchParams };
}
