import { type Problem, type ResultOf, RrsConnectionError, RrsError, randomId } from '@rrs/client';

/** Uploads a report. `fetch` cannot say how much it has sent, so this is an XMLHttpRequest. */
export function uploadReport(file: File, scope: Record<string, unknown>, onProgress: (share: number) => void): Promise<ResultOf<'createImport'>> {
  const query = new URLSearchParams({ filename: file.name, ...(Object.keys(scope).length > 0 ? { scan_scope: JSON.stringify(scope) } : {}) });
  const url = `${location.origin}/api/v1/imports?${query}`;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.responseType = 'json';
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('idempotency-key', randomId());
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('error', () => reject(new RrsConnectionError(url, new Error('the upload was interrupted'))));
    request.addEventListener('load', () => {
      if (request.status < 300) return resolve(request.response as ResultOf<'createImport'>);
      const response = new Response(null, { status: request.status });
      reject(new RrsError(Object.defineProperty(response, 'url', { value: url }), request.response as Partial<Problem> | null));
    });
    request.send(file);
  });
}
