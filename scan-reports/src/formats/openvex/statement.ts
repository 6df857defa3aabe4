import type { Analysis, Asset, Location, Observation } from '../../contract.ts';
import { exportedObservations, LOCATION_FIELDS } from '../../shared/exported.ts';
import { idsIn, observation, RecordError, required } from '../../shared/normalize.ts';
import { arr, date, isObj, type Obj, str, strs } from '../../shared/read.ts';
import { assetOf, type Product, packageOf, productOf } from './product.ts';

/** What a document states about all its statements. */
export interface Document {
  author: string;
  time: Date | null;
}

/** One observation for each product, or for each of its subcomponents. */
export function observationsOf(statement: Obj, place: string, document: Document): Observation[] {
  const status = required(str(statement.status), 'status').toLowerCase();
  const analysis = analysisOf(statement, status);
  if (analysis === undefined) throw new RecordError('status must be one of not_affected, affected, fixed, under_investigation');
  // Up to version 0.0.1, the vulnerability and the products are texts.
  const vulnerability = isObj(statement.vulnerability) ? statement.vulnerability : { name: statement.vulnerability };
  const id = required(str(vulnerability.name) ?? idsIn(str(vulnerability['@id']))[0], 'vulnerability.name');
  const products = arr(statement.products).map(productOf);
  if (products.length === 0) throw new RecordError('products is missing');
  const common = {
    place,
    tool: document.author,
    rule: id,
    description: str(vulnerability.description),
    solution: str(statement.action_statement),
    severity: 'unknown' as const,
    vulnerability_ids: [id, ...strs(vulnerability.aliases)],
    references: strs(vulnerability['@id']).filter((reference) => /^https?:/i.test(reference)),
    present: status !== 'fixed',
    suppressed: status === 'not_affected',
    last_seen: date(statement.last_updated) ?? date(statement.timestamp) ?? document.time,
    analysis,
  };
  const decided = { ...statement, vulnerability, id };
  return products.flatMap((product) =>
    (product.subcomponents.length > 0 ? product.subcomponents : [null]).flatMap((part) => {
      const exported = exportedOf(decided, product, part);
      if (exported !== null) return exportedObservations(exported, place);
      const { asset, location } = targetOf(product, part);
      return observation({ ...common, title: `${id}${location.component ? ` in ${location.component}` : ''}`, asset, location });
    }),
  );
}

/** A package without subcomponents does not say where it is installed. The import supplies the asset. */
function targetOf(product: Product, part: Product | null): { asset: Asset | null; location: Partial<Location> } {
  if (part !== null) return { asset: assetOf(product), location: packageOf(part) };
  const asset = assetOf(product);
  return asset?.type === 'package' ? { asset: null, location: packageOf(product) } : { asset, location: {} };
}

/** Exports of this service add the asset to the id of the product, and what identifies the finding to the id of the subcomponent. */
function exportedOf(statement: Obj & { vulnerability: Obj; id: string }, product: Product, part: Product | null): Obj | null {
  const [asset, finding] = [detailsOf(product.id), detailsOf(part?.id)];
  const { vulnerability } = statement;
  if (asset?.name === undefined || finding?.weakness === undefined) return null;
  return {
    id: str(statement['@id'])?.replace(/^urn:uuid:/, ''),
    title: vulnerability.description,
    solution: statement.action_statement,
    status: finding.status,
    status_reason: statement.impact_statement ?? statement.status_notes,
    justification: JUSTIFICATIONS[str(statement.justification) ?? ''],
    suppressed: finding.suppressed,
    severity: finding.severity,
    weakness: finding.weakness,
    rule: finding.rule,
    vulnerability_ids: [statement.id, ...strs(vulnerability.aliases)],
    asset: { ...asset, id: product.id.slice('urn:uuid:'.length).split('#', 1)[0] },
    location: Object.fromEntries(LOCATION_FIELDS.map((field) => [field, finding[field]])),
    last_seen: statement.timestamp,
  };
}

function detailsOf(id: string | undefined): Record<string, string> | null {
  const [, details] = /^urn:uuid:[0-9a-f-]{36}#(.+)$/i.exec(id ?? '') ?? [];
  return details === undefined ? null : Object.fromEntries(new URLSearchParams(details));
}

/** The CycloneDX names of OpenVEX justifications. */
const JUSTIFICATIONS: Readonly<Record<string, string>> = {
  component_not_present: 'code_not_present',
  vulnerable_code_not_present: 'code_not_present',
  vulnerable_code_not_in_execute_path: 'code_not_reachable',
  vulnerable_code_cannot_be_controlled_by_adversary: 'requires_environment',
  inline_mitigations_already_exist: 'protected_by_mitigating_control',
};

function analysisOf(statement: Obj, status: string): Analysis | undefined {
  const notes = str(statement.impact_statement) ?? str(statement.status_notes);
  const detail = notes === undefined ? {} : { detail: notes };
  const justification = JUSTIFICATIONS[str(statement.justification) ?? ''];
  switch (status) {
    case 'not_affected':
      return { state: 'not_affected', ...(justification === undefined ? {} : { justification }), ...detail };
    case 'affected':
      return { state: 'exploitable', ...detail };
    case 'fixed':
      return { state: 'resolved', ...detail };
    case 'under_investigation':
      return { state: 'in_triage', ...detail };
    default:
      return undefined;
  }
}
