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
