import { toHex, utf8 } from '../../../bytes/bytes.ts';
import { sha1 } from '../../../bytes/sha1.ts';
import type { Evidence } from '../../../document/evidence.ts';
import type { Finding } from '../../../document/finding.ts';
import { describe, dispositionOf } from '../dispositions.ts';
import { mapped } from '../sequences.ts';
import { standingCounts } from '../words/conclusion.ts';
import { oneLine } from '../words/printable.ts';

/** Parts that OSCAL 1.2.1 assessment results and plans of action share. */
export const NAMESPACE = 'https://rrs.example/ns/oscal';
/** The bytes of 5f0c6a52-7d5e-5a3c-9f3b-2f1c8a6e4d10. */
const NAMESPACE_BYTES = Uint8Array.of(0x5f, 0x0c, 0x6a, 0x52, 0x7d, 0x5e, 0x5a, 0x3c, 0x9f, 0x3b, 0x2f, 0x1c, 0x8a, 0x6e, 0x4d, 0x10);

/** A version 5 UUID (RFC 9562). OSCAL accepts only versions 4 and 5 and requires the same id for the same subject in every document. */
export function oscalId(kind: string, id: string): string {
  const bytes = sha1(Uint8Array.from([...NAMESPACE_BYTES, ...utf8(`${kind}:${id}`)])).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** OSCAL strings are one line, without white space at either end, and not empty. */
export const line = (text: string): string => oneLine(text) || '-';

export function props(values: Record<string, string | number | boolean | null | readonly string[]>) {
  return Object.entries(values).flatMap(([name, value]) => {
    const all = value === null ? [] : typeof value === 'object' ? value : [String(value)];
    return all.map((each) => ({ name, ns: NAMESPACE, value: line(each) }));
  });
}

/** OSCAL does not allow empty lists, so an empty list leaves out its key. */
export function list<K extends string, T>(key: K, items: readonly T[]): { [P in K]?: readonly T[] } {
  return items.length === 0 ? {} : ({ [key]: items } as { [P in K]: readonly T[] });
}

export function metadata(evidence: Evidence, title: string) {
  const { organization, package_id, work_item, sequence, conclusion, completeness, counts } = evidence;
  return {
    title: line(`${title}: ${work_item.title}`),
    'last-modified': evidence.generated_at,
    version: String(sequence),
    'oscal-version': '1.2.1',
    'document-ids': [{ identifier: package_id }],
    props: props({
      'package-id': package_id,
      'work-item-id': work_item.id,
      'as-of': evidence.as_of,
      conclusion,
      grade: completeness.grade,
      findings: counts.findings,
      ...standingCounts(counts),
    }),
    parties: [{ uuid: oscalId('organization', organization.id), type: 'organization', name: line(organization.name) }],
  };
}

export function inventory({ findings, assets }: Evidence) {
  const scopes = new Map(assets.map((asset) => [asset.id, asset]));
  const seen = new Map(findings.map(({ asset }) => [asset.id, asset]));
  return mapped(seen.values(), ({ id, type, name }) => {
    const { owner = null, criticality = null, exposure = null } = scopes.get(id) ?? {};
    return {
      uuid: oscalId('asset', id),
      description: line(name),
      props: props({ 'asset-id': id, 'asset-type': type, owner, criticality, exposure }),
    };
  });
}

/** Properties by which a finding is the same in every part of a document. */
export function findingProps(finding: Finding) {
  const { id, standing, state, cause, assurance, provenance } = finding;
  return { 'finding-id': id, standing, disposition: dispositionOf(finding), state, cause, assurance, provenance };
}

export const outcomeOf = (finding: Finding): string => describe(finding).label;
