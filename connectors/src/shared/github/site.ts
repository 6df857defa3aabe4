/** The URL of the site that belongs to the API. */
export function siteOf(apiUrl: string): string {
  const { protocol, host, pathname } = new URL(apiUrl);
  if (/\/api\/v3\/?$/.test(pathname)) return `${protocol}//${host}${pathname.replace(/\/api\/v3\/?$/, '')}`;
  return `${protocol}//${host.replace(/^api\./, '')}`;
}
