import type { ApiAnswer, TestApi } from './api.ts';

/** The response to an import, or the import itself if it failed while the request waited for it. */
export async function withFailedImport(api: TestApi, answer: ApiAnswer, as: string): Promise<ApiAnswer> {
  const isFailed = answer.status === 422 && (answer.body as { code?: string }).code === 'import_failed';
  return isFailed ? { ...answer, body: (await api.call('GET', answer.headers.get('location') ?? '', { as })).body } : answer;
}
