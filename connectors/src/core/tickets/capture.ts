import { type Obj, obj } from '@rrs/scan-reports/read.ts';
import type { Capture, Http, HttpRequest } from '../contract.ts';
import { oneLine } from './text.ts';

/** The path and query of a link, relative to the site. Null if the link points elsewhere or is not a URL. */
export function linkWithin(url: string, site: string): { path: string; query: URLSearchParams } | null {
  if (!URL.canParse(url) || !URL.canParse(site)) return null;
  const { origin, pathname, searchParams } = new URL(url);
  const home = new URL(site);
  const base = home.pathname.replace(/(?<!\/)\/+$/, '');
  if (origin !== home.origin || !pathname.startsWith(`${base}/`)) return null;
  return { path: pathname.slice(base.length), query: searchParams };
}

/**
 * Captures the vendor's response byte for byte. `describe` returns null for a record outside of the configured project. Threat: the credentials of a
 * connection may read more than the people who may add evidence.
 */
export async function captureJson(
  http: Http,
  request: HttpRequest,
  describe: (record: Obj) => string | null | Promise<string | null>,
): Promise<Capture | null> {
  const { body } = await http.text({ ...request, isComplete: isJson });
  const description = await describe(obj(JSON.parse(body)));
  return description === null ? null : { bytes: Buffer.from(body), mediaType: 'application/json', description: oneLine(description, 500) };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
