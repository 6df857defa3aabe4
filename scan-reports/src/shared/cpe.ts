export interface CpeProduct {
  component: string;
  version: string | undefined;
}

/** Returns product and version of a CPE 2.2 (`cpe:/a:vendor:product:version`) or CPE 2.3 (`cpe:2.3:a:…`) name anywhere in the text. */
export function productOfCpe(cpe: string | undefined): CpeProduct | null {
  const [, rest] = /cpe:(?:\/|2\.3:)([aho]:\S+)/i.exec(cpe ?? '') ?? [];
  // A colon inside a value is escaped: "\:" in CPE 2.3, "%3a" in CPE 2.2.
  const parts = rest?.split(/(?<!\\):/).map((part) => decoded(part));
  const component = parts?.[2];
  if (!component || component === '*') return null;
  const version = parts?.[3];
  return { component, version: version && version !== '*' && version !== '-' ? version : undefined };
}

function decoded(part: string): string {
  const plain = part.replaceAll(/\\(.)/g, '$1');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Returns product and version of a CPE name (2.2 or 2.3). Tenable's p-cpe has a package in place of the version. */
export function cpeComponent(cpe: string | undefined): { component?: string; version?: string } {
  const [, packaged, parts = ''] = /^(p-|x-)?cpe:(?:\/|2\.3:)[aoh]:(.*)$/i.exec(cpe?.trim() ?? '') ?? [];
  const [, product, version] = parts.split(/(?<!\\):/).map(cpeText);
  const isPackage = packaged?.toLowerCase() === 'p-' && version !== undefined;
  const component = isPackage ? version : product;
  if (component === undefined) return {};
  return { component, ...(isPackage || version === undefined ? {} : { version }) };
}

function cpeText(part: string): string | undefined {
  const text = part.replaceAll('\\', '').replaceAll(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return text === '' || text === '*' || text === '-' ? undefined : text;
}
