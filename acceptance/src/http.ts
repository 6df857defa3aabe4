export interface Reply {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

interface Call {
  key?: string | null;
  method?: string;
  body?: unknown;
}

export async function call(url: string, path: string, { key = null, method, body }: Call = {}): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : { text } };
}

export function createKey(url: string, key: string, name = 'made by a test', role = 'viewer'): Promise<Reply> {
  return call(url, '/api/v1/api-keys', { key, body: { name, role } });
}
