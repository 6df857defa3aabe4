import type { Asset } from '../../contract.ts';
import { hostAsset, parseUrl, urlPlace, webAsset } from '../../shared/normalize.ts';
import { count, isObj, type Obj, str } from '../../shared/read.ts';

interface Endpoint {
  asset: Asset | null;
  location: { url?: string | undefined; port?: number | undefined; protocol?: string | undefined };
}

/** An endpoint is a URL, `host`, `host:port`, `host/path`, or an object with the parts of a URL. Null if there is no host. */
export function endpointOf(given: unknown): Endpoint | null {
  const text = isObj(given) ? addressOf(given) : str(given);
  const parsed = parseUrl(text);
  if (text === undefined || parsed === null) return null;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const isWeb = scheme === undefined ? parsed.pathname !== '/' : /^https?$/.test(scheme);
  if (isWeb) return { asset: webAsset(text), location: { url: urlPlace(text) } };
  // The parser removes the default port of its scheme, so the port is read from the text.
  const port = count(/^(?:[^/]*\/\/)?[^/?#]*:(\d+)(?:[/?#]|$)/.exec(text)?.[1]);
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  return { asset: hostAsset({ given: host }), location: { port, protocol: scheme } };
}

function addressOf({ protocol, host, port, path, query }: Obj): string | undefined {
  const name = str(host);
  if (name === undefined) return undefined;
  const parts = [str(protocol) ? `${str(protocol)}://` : '', name, count(port) ? `:${count(port)}` : ''];
  return [...parts, str(path) ? `/${str(path)?.replace(/^\/+/, '')}` : '', str(query) ? `?${str(query)}` : ''].join('');
}
