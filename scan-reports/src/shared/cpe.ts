export interface CpeProduct {
  component: string;
  version: string | undefined;
}

/** Product and version of a CPE name, in the old form (`cpe:/a:vendor:product:version`) or in the new one (`cpe:2.3:a:…`). */
export function productOfCpe(cpe: string | undefined): CpeProduct | null {
  const [, rest] = /cpe:(?:\/|2\.3:)([aho]:\S+)/i.exec(cpe ?? '') ?? [];
  // A colon inside of a value is escaped: "\:" in the new form, "%3a" in the old one.
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
