import type { About, ReportInput } from '../../contract.ts';
import { name } from '../../names/clean-text.ts';
import { aboutPages } from '../../shared/about.ts';
import { type Obj, obj, str } from '../../shared/read.ts';

/** More products than anybody uses at once. */
const MAX_PRODUCTS = 20;
const MAX_NAME = 200;

/** The product that sent the finding. Its ARN ends with "product/<company>/<product>". */
export function productOf(finding: Obj): string | undefined {
  const product = str(finding.ProductName) ?? str(obj(finding.ProductFields)['aws/securityhub/ProductName']) ?? str(finding.ProductArn)?.split('/').at(-1);
  return product && name(product).toLowerCase().slice(0, MAX_NAME);
}

/** Prowler has formats of its own, in which the same check of the same resource is the same finding. */
export function isProwler(finding: Obj): boolean {
  return productOf(finding) === 'prowler';
}

/** Only the records name their products. A file without some products may have been filtered, so it says nothing about their findings. */
export async function aboutProducts(input: ReportInput, items: readonly string[]): Promise<About> {
  const products = new Set<string>();
  const see = (finding: unknown): void => {
    const product = productOf(obj(finding));
    if (product && products.size <= MAX_PRODUCTS) products.add(product);
  };
  const about = await aboutPages(input, { next: 'NextToken', items, see });
  return { ...about, tools: [...products], finished: about.finished && products.size <= MAX_PRODUCTS };
}
