import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaChecks, schemasPresent } from '../../testing/evidence/published-schemas.ts';
import { copiesOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { longestTurn } from '../../testing/longest-turn.ts';
import { filters } from '../schemas-filter.ts';
import { row } from './csv.ts';
import { exportPages } from './export.ts';
import { exportFormats } from './formats.ts';
import { writeExport } from './write-export.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const [index, change] of changes.entries()) {
    const body = {
      title: index === 0 ? '=cmd|" /C calc"!A0, and more' : `weak ${index}`,
      severity: 'high',
      asset: { type: 'container_image', name: 'registry.example.com/shop:1.4' },
      description: 'what it is',
      ...(index % 2 === 0
        ? { cves: [`CVE-2021-${1000 + index}`, 'CVE-2020-9999'], cvss: { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' }, cwes: [502] }
        : { solution: 'update it' }),
      location: { component: 'log4j core', version: '2.14.1', purl: 'pkg:maven/a/log4j-core@2.14.1', path: 'C:\\app dir\\a:b.jar', line: 3, end_line: 4 },
      tags: ['a', 'b'],
    };
    const { id } = (await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).body as { id: string };
    const answers = [];
    for (const patch of change) answers.push(await api.call('PATCH', `/api/v1/findings/${id}`, { as: await api.ours.key('analyst'), body: patch }));
    expect(answers.map(({ status }) => status)).toEqual(change.map(() => 200));
  }
});
afterAll(() => api?.close());

const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();
const claimed = { status: 'remediated', reason: 'patched' };
const changes: object[][] = [
  [],
  [{ status: 'in_progress' }],
  [claimed],
  [claimed, { status: 'verified' }],
  [{ status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: inAMonth }],
  [{ status: 'false_positive', justification: 'code_not_reachable' }],
  [{ status: 'false_positive', justification: 'inaccurate_finding' }],
  [{ status: 'false_positive', justification: 'requires_environment', reason: 'not on linux' }],
  [{ status: 'withdrawn', reason: 'out of scope' }],
];

async function download(query: string, headers: Record<string, string> = {}) {
  const answer = await api.call('GET', `/api/v1/findings/export?${query}`, { as: api.ours.owner, headers });
  const { body } = answer;
  return { ...answer, text: typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body) };
}

/** The ids of the findings in a file. Fails if the file is incomplete. */
const idsIn: Record<keyof typeof exportFormats, (text: string) => string[]> = {
  csv: (text) => {
    expect(text).toMatch(/\r\n$/);
    return text
      .slice(0, -2)
      .split('\r\n')
      .slice(1)
      .map((line) => line.slice(0, line.indexOf(',')));
  },
  ndjson: (text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).id),
  sarif: (text) => JSON.parse(text).runs[0].results.map(({ properties }: { properties: { id: string } }) => properties.id),
  'cyclonedx-vex': (text) => {
    const { vulnerabilities, components } = JSON.parse(text) as Record<'vulnerabilities' | 'components', { 'bom-ref': string; affects: { ref: string }[] }[]>;
    const refs = components.map((component) => component['bom-ref']);
    for (const { affects } of vulnerabilities) expect(refs).toContain(affects[0]?.ref);
    return vulnerabilities.map((vulnerability) => vulnerability['bom-ref']);
  },
  openvex: (text) => JSON.parse(text).statements.map((statement: { '@id': string }) => statement['@id'].replace('urn:uuid:', '')),
};
const formatNames = Object.keys(exportFormats) as (keyof typeof exportFormats)[];

describe.skipIf(!schemasPresent)(
  schemasPresent ? 'validated with the published schema' : 'validated with the published schema (skipped: the schemas are missing)',
  () => {
    it.each(['sarif', 'cyclonedx-vex', 'openvex'] as const)('%s is valid', async (format) => {
      const validate = schemaChecks[format]();
      for (const query of ['', '&status=verified', ...(format === 'openvex' ? [] : ['&asset=nowhere'])]) {
        const { status, text } = await download(`format=${format}${query}`);
        expect(status).toBe(200);
        expect(validate(JSON.parse(text)) ? null : validate.errors).toBeNull();
      }
      expect(validate({ nothing: 'of the kind' })).toBe(false);
    });
  },
);

describe('an export', () => {
  it('has a media type, a file name and every finding, in every format', async () => {
    for (const format of formatNames) {
      const { mediaType, extension } = exportFormats[format];
      const { status, headers, text } = await download(`format=${format}`, { accept: mediaType });
      expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, mediaType]);
      expect(headers.get('content-disposition')).toMatch(new RegExp(`^attachment; filename="findings-\\d{4}-\\d{2}-\\d{2}\\.${extension}"$`));
      expect(idsIn[format](text), format).toHaveLength(changes.length);
      expect(idsIn[format]((await download(`format=${format}&status=false_positive`)).text), format).toHaveLength(3);
    }
  });

  it('states only verified findings as fixed', async () => {
    const { vulnerabilities, components } = JSON.parse((await download('format=cyclonedx-vex')).text);
    const states = vulnerabilities.map((each: { analysis: { state: string } }) => each.analysis.state);
    const wanted = ['in_triage', 'exploitable', 'exploitable', 'resolved', 'exploitable', 'not_affected', 'false_positive', 'not_affected', 'in_triage'];
    expect(states).toEqual(wanted);
    const refs = components.map((component: Record<string, string>) => component['bom-ref']);
    for (const { affects } of vulnerabilities) expect(refs).toContain(affects[0].ref);
    expect(refs).toHaveLength(1);
    const { statements } = JSON.parse((await download('format=openvex')).text);
    const unknown = 'under_investigation';
    const said = statements.map(({ status }: { status: string }) => status);
    expect(said).toEqual([unknown, 'affected', 'affected', 'fixed', 'affected', 'not_affected', 'not_affected', 'not_affected', unknown]);
  });

  it('neutralizes spreadsheet formulas', async () => {
    const write = (value: Parameters<typeof row>[1]) => row({ only: (it) => it as string }, value).slice(0, -2);
    for (const evil of ['=1+1', '+1', '-1', '@sum', '\tx', '\rx']) expect(write(evil).replace(/^"/, '')).toMatch(/^'/);
    expect([-1, 'a"b', 'a,b', null, ['a', 'b'], ['=a'], [1, 2]].map(write)).toEqual(['-1', '"a""b"', '"a,b"', '', 'a; b', "'=a", '1; 2']);
    expect((await download('format=csv')).text).toContain(`"'=cmd|"" /C calc""!A0, and more"`);
  });

  it('has the texts, the location and the acceptance of a finding in CSV', async () => {
    const [header = '', ...rows] = (await download('format=csv&status=risk_accepted')).text.trimEnd().split('\r\n');
    const cells = Object.fromEntries(header.split(',').map((name, index) => [name, rows[0]?.split(',')[index]]));
    const accepted = { status_reason: 'for now', acceptance_owner: 'ada', acceptance_expires_at: inAMonth, weakness: 'CVE-2020-9999+CVE-2021-1004' };
    expect(cells).toMatchObject({
      ...accepted,
      description: 'what it is',
      solution: '',
      line: '3',
      end_line: '4',
      vulnerability_ids: 'CVE-2021-1004; CVE-2020-9999',
    });
  });

  it('returns a problem for an unknown format, a wrong Accept header and an empty OpenVEX document', async () => {
    expect(await download('format=pdf')).toMatchObject({ status: 400, body: { errors: [{ path: '/format' }] } });
    expect(await download('sort=id')).toMatchObject({ status: 400 });
    expect(await download('', { accept: 'text/html' })).toMatchObject({ status: 406 });
    expect(await download('format=openvex&asset=nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const theirs = await api.call('GET', '/api/v1/findings/export?format=ndjson', { as: api.theirs.owner });
    expect(theirs).toMatchObject({ status: 200, body: null });
  });

  it('reads page by page, and only as far as the client reads', async () => {
    const orgId = api.theirs.id;
    const body = { title: 'many', severity: 'low', asset: { type: 'host', name: 'many.example' } };
    const { id } = (await api.call('POST', '/api/v1/findings', { as: api.theirs.owner, body })).body as { id: string };
    await copiesOf(api, id, 2_499, orgId);
    const task = { orgId, organization: 'Theirs', format: 'ndjson', filter: {}, started: new Date() } as const;
    const here = await longestTurn(async () => {
      for await (const part of writeExport(api.db, task)) expect(part).not.toBe('');
    });
    const { result, ms } = await longestTurn(() => api.call('GET', '/api/v1/findings/export?format=ndjson', { as: api.theirs.owner }));
    expect(new Set(String(result.body).trimEnd().split('\n')).size).toBe(2_500);
    // A child process writes the file, so that the process that serves HTTP stays free.
    expect(ms).toBeLessThan(here.ms / 2);
    let transactions = 0;
    const count = (...args: Parameters<typeof api.db.withTenant>) => {
      transactions++;
      return api.db.withTenant(...args);
    };
    const counting = {
      ...api.db,
      withTenant: count,
    } as typeof api.db;
    for await (const page of exportPages(counting, orgId, {})) {
      expect(page).toHaveLength(1_000);
      break;
    }
    expect(transactions).toBe(1);
  });
});

/** Filters with values that match findings of this test. All others get values from their schema. */
const matching: Record<string, string> = {
  source: 'manual',
  asset: 'registry',
  cve: 'CVE-2020-9999',
  cwe: '502',
  component: 'log4j core',
  tag: 'a',
  path: 'app dir',
  q: 'weak',
};
const matchingAll = ['severity', 'status', 'asset_type', 'source', 'source_kind', 'asset', 'component', 'tag', 'path', 'not_source', 'not_path', 'criticality'];

const NOBODY = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';

type FilterSchema = { type?: string; enum?: string[]; items?: FilterSchema; minimum?: number; examples?: unknown[] };

function valuesOf(name: string, { type, enum: values, items, minimum, examples }: FilterSchema): string[] {
  if (matching[name] !== undefined) return [matching[name]];
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'array' && items) return valuesOf(name, items);
  if (values) return [values.join(',')];
  return [String(type === 'string' ? (examples?.[0] ?? 'text') : (minimum ?? 0))];
}

const parameters = Object.entries(filters).flatMap(([name, schema]) =>
  valuesOf(name, schema as FilterSchema).map((value) => `${name}=${encodeURIComponent(value)}${name === 'asset_version' ? `&asset_id=${NOBODY}` : ''}`),
);

describe('an export with a filter', () => {
  async function listed(query: string): Promise<string[]> {
    const { status, body } = await api.call('GET', `/api/v1/findings?limit=200&${query}`, { as: api.ours.owner });
    expect(status, query).toBe(200);
    return (body as { data: { id: string }[] }).data.map(({ id }) => id).sort();
  }

  async function expectSameAsListed(format: keyof typeof exportFormats, query: string): Promise<void> {
    const expected = await listed(query);
    const { status, text } = await download(`format=${format}&${query}`);
    if (expected.length === 0 && !exportFormats[format].mayBeEmpty) return expect(status, query).toBe(404);
    expect(status, query).toBe(200);
    expect(idsIn[format](text).sort(), query).toEqual(expected);
  }

  it.each(formatNames)('is complete and has the findings of the list, for every filter: %s', async (format) => {
    for (const query of parameters) await expectSameAsListed(format, query);
  });

  it('is complete for severity combined with every other filter', async () => {
    for (const query of parameters) if (!query.startsWith('severity=')) await expectSameAsListed('cyclonedx-vex', `severity=high,low&${query}`);
  });

  it.each(matchingAll)('has all findings if all match: %s', async (name) => {
    const query = parameters.find((parameter) => parameter.startsWith(`${name}=`));
    expect(await listed(query ?? '')).toHaveLength(changes.length);
    for (const format of formatNames) expect(idsIn[format]((await download(`format=${format}&${query}`)).text), format).toHaveLength(changes.length);
  });
});
