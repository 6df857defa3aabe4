import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../folders.ts';
import { call } from '../http.ts';
import { type Service, until } from '../service.ts';

type Running = Pick<Service, 'url'> & { key: string };

export interface SealedPackage {
  id: string;
  itemId: string;
  /** Path of the ZIP file. */
  zip: string;
  bytes: Buffer;
}

/** Creates a work item of all findings and seals a package of it. */
export async function sealPackage(service: Running, title: string): Promise<SealedPackage> {
  const item = await call(service.url, '/api/v1/work-items', { key: service.key, body: { title, filter: { asset_type: ['container_image'] } } });
  return sealAgain(service, String(item.body.id));
}

/** Seals a package, or the next one, of a work item. */
export async function sealAgain(service: Running, itemId: string): Promise<SealedPackage> {
  const requested = await call(service.url, '/api/v1/riskops-evidence/packages', { key: service.key, body: { work_item_id: itemId } });
  const id = String(requested.body.package_id);
  const sealed = await until('the package is sealed', async () => {
    const { body } = await call(service.url, `/api/v1/riskops-evidence/packages/${id}`, { key: service.key });
    return body.status === 'generating' ? null : body;
  });
  if (sealed.status !== 'ready') throw new Error(`the package was not sealed: ${JSON.stringify(sealed)}`);
  const response = await fetch(`${service.url}/api/v1/riskops-evidence/packages/${id}/download`, { headers: { authorization: `Bearer ${service.key}` } });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { id, itemId, zip: fileOf('package.zip', bytes), bytes };
}

/** Changes one byte of a file in a package. */
export function tamperedWith({ bytes }: SealedPackage, text: string): string {
  const changed = Buffer.from(bytes);
  const at = changed.indexOf(text);
  if (at < 0) throw new Error(`the package does not contain "${text}"`);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return fileOf('tampered.zip', changed);
}

export function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** Creates a share link and returns its path in the console. */
export async function shareLink(service: Running, packageId: string, more: Record<string, unknown> = {}): Promise<{ path: string; id: string; url: string }> {
  const { body } = await call(service.url, `/api/v1/riskops-evidence/packages/${packageId}/share-links`, {
    key: service.key,
    body: { recipient: 'Grace Hopper, Example Auditors', ...more },
  });
  return { path: new URL(String(body.url)).pathname, id: String(body.id), url: String(body.url) };
}

/** Chooses files with the button of that name. */
export async function chooseFiles(page: Page, button: string, ...paths: string[]): Promise<void> {
  await page.locator(`input[type=file][aria-label="${button}"]`).setInputFiles(paths);
}

export const verdict = (page: Page, title: string) => page.getByRole('region', { name: 'Result' }).getByRole('heading', { name: title, exact: true });
