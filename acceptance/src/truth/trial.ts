import { call } from '../http.ts';
import { until } from '../service.ts';
import { type Scan, type Tool, type Trial, timeOf } from './scan.ts';

interface Scope {
  coverage?: 'complete' | 'partial';
  track?: string;
  version?: string;
  path?: string;
  name?: string;
  started_at?: string;
  asset?: { type: string; name: string } | 'unspecified';
  assets?: { type: string; name: string }[];
  ended_tracks?: string[];
}

export interface Upload {
  scope?: Scope;
  /** The share of the file that arrives. */
  cut?: number;
  /** Whether the import may fail. */
  mayFail?: boolean;
  dryRun?: boolean;
  /** Changes the text of the report. */
  edit?: (text: string) => string;
}

interface Imported {
  id: string;
  status: string;
  notes: string[];
}

export interface ListedFinding {
  id: string;
  status: string;
  rule: string | null;
  vulnerability_ids: string[];
  asset: { id: string; name: string };
}

/** What one trial does through the API. Trials share an organization and a service, but no names. */
export function startTrial({ url, key }: { url: string; key: string }, trial: Trial) {
  const request = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    // The imports of other trials can keep the service busy.
    const answer = await until('the service is not busy', async () => {
      const reply = await call(url, `/api/v1${path}`, { key, method, ...(body === undefined ? {} : { body }) });
      return reply.status === 503 ? null : reply;
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const sent = async (
    tool: Tool,
    scan: Scan,
    { scope = {}, cut, mayFail = cut !== undefined, dryRun = false, edit = (text) => text }: Upload = {},
  ): Promise<Imported> => {
    const text = edit(tool.write(trial, scan));
    const asset = { type: 'repository', name: `https://git.example.com/${scan.asset ?? trial.asset}` };
    const whole: Scope = {
      coverage: 'complete',
      name: `trial ${trial.n}`,
      ...(tool.hasAsset ? {} : { asset }),
      ...(tool.hasTime ? {} : { started_at: timeOf(scan).toISOString() }),
      ...scope,
    };
    const query = new URLSearchParams({ format: tool.format, scan_scope: JSON.stringify(whole), dry_run: String(dryRun) });
    const response = await fetch(`${url}/api/v1/imports?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream', prefer: 'wait=60' },
      body: cut === undefined ? text : text.slice(0, Math.floor(text.length * cut)),
    });
    const answer = (await response.json()) as Imported;
    if (response.status === 202 || (response.status === 422 && mayFail)) return answer;
    throw new Error(`${tool.format}: ${response.status} ${JSON.stringify(answer)}`);
  };
  const found = async (tool: Tool, n: number): Promise<ListedFinding> => {
    const id = tool.idOf(trial, n);
    const { data } = await request('GET', `/findings?${/^(?:CVE|GHSA)-/.test(id) ? 'cve' : 'rule'}=${id}&limit=10`);
    const [first] = data as ListedFinding[];
    if (!first) throw new Error(`no finding ${id}`);
    return first;
  };
  return {
    trial,
    request,
    found,
    /** Imports a report and waits for it. */
    scan: sent,
    /** Decides about the first finding of a weakness. */
    decide: async (tool: Tool, n: number, patch: object): Promise<void> => {
      await request('PATCH', `/findings/${(await found(tool, n)).id}`, patch);
    },
  };
}

type Running = ReturnType<typeof startTrial>;

/** A history of scans, and the status that each weakness must have in the end. */
export interface TruthCase {
  name: string;
  tool: Tool;
  run: (trial: Running) => Promise<void>;
  /** By number of the weakness. Null: it is not listed. Several: it is on several assets. */
  expected: Readonly<Record<number, string | readonly string[] | null>>;
}

/** Two scans of one tool. The second one does not show weakness 0, still shows others, and shows weakness 9 for the first time. */
export interface Rescan {
  name: string;
  tools: readonly Tool[];
  first?: Partial<Scan>;
  second?: Partial<Scan>;
  firstUpload?: Upload;
  upload?: Upload;
  /** The status of weakness 0. */
  expected: string;
  /** The status of weakness 9, if it is not open. Null: it is not listed. */
  shown?: string | null;
  /** Whether the second report is imported first. */
  reversed?: boolean;
}
