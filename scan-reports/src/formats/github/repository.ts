import type { Asset } from '../../contract.ts';
import { type Obj, obj, str } from '../../shared/read.ts';

/** Returns the repository of a REST alert. Only organization-wide lists name it, but the URL of every alert starts with it. */
export function repositoryAsset(alert: Obj): Asset | null {
  const repository = obj(alert.repository);
  const [, page] = /^(https?:\/\/.+?)\/security\//.exec(str(alert.html_url) ?? '') ?? [];
  const [, fullName] = /\/repos\/([^/]+\/[^/]+)\//.exec(str(alert.url) ?? '') ?? [];
  const name = page ?? str(repository.html_url) ?? str(repository.full_name) ?? fullName;
  return name ? { type: 'repository', name } : null;
}

/** Alert numbers are per repository, so the URL of the alert is its id. */
export function alertId(alert: Obj): string | undefined {
  return str(alert.html_url) ?? str(alert.url);
}

/** "None" and null both mean that there is no reason. */
export function reasonTag(reason: unknown): string[] {
  const text = str(reason);
  return text === undefined || text === 'None' ? [] : [text];
}
