import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { createShares } from '../http/requests/shares.ts';
import { media, OneOf, problems, Strict } from '../http/schemas.ts';
import { readOrganization } from '../organizations/organization.ts';
import { AppError } from '../shared/errors.ts';
import type { FindingDeps } from './deps.ts';
import { type ExportedFinding, exportAssets, exportPages } from './export/export.ts';
import { type ExportFormat, exportFormats } from './export/formats.ts';
import { filterRules, filters } from './schemas-filter.ts';

const names = Object.keys(exportFormats) as (keyof typeof exportFormats)[];
const mediaTypes = Object.values(exportFormats).map(({ mediaType }) => mediaType);

const ExportQuery = Strict(
  {
    format: OneOf(names, {
      default: 'csv',
      description: 'File format: CSV, NDJSON (one JSON object per line), SARIF 2.1.0, CycloneDX 1.6 VEX or OpenVEX 0.2.0. Default: `csv`',
    }),
    ...filters,
  },
  filterRules,
);

const document = (example: object) => ({ schema: Type.Object({}, { additionalProperties: true }), example });
const content = {
  'text/csv': {
    schema: Type.String(),
    example: 'id,title,status,severity\r\n01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11,Admin page without a password,open,high\r\n',
  },
  'application/x-ndjson': { schema: Type.String(), example: '{"id":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11","title":"Admin page without a password"}\n' },
  'application/sarif+json': document({ version: '2.1.0', runs: [] }),
  'application/vnd.cyclonedx+json': document({ bomFormat: 'CycloneDX', specVersion: '1.6', vulnerabilities: [] }),
  'application/json': document({ '@context': 'https://openvex.dev/ns/v0.2.0', statements: [] }),
} satisfies Record<(typeof mediaTypes)[number], unknown>;

export function exportRoutes(app: App, { db }: FindingDeps): void {
  const shares = createShares({ perOrganization: 6, perCredential: 3 });
  app.get(
    '/findings/export',
    {
      config: { access: 'findings:read', produces: mediaTypes },
      schema: {
        operationId: 'exportFindings',
        summary: 'Export findings',
        description:
          'Returns all findings that match the filters as one file. The file is streamed. For `openvex`, returns 404 if no finding matches, because an OpenVEX document must have at least one statement. Returns 429 if your organization already has several exports running.',
        tags: ['Findings'],
        querystring: ExportQuery,
        response: {
          200: media('The exported file', content),
          ...problems('not_found', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const release = shares.takeOrRefuse(request.actor, 'exports');
      reply.raw.once('close', release);
      const { format: name, ...filter } = request.query;
      const format: ExportFormat = exportFormats[name];
      const started = new Date();
      const organization = await db.withTenant(request.actor, (tx) => readOrganization(tx, orgId));
      const pages = exportPages(db, orgId, filter);
      // Read the first page before sending: an error here can still be reported as a problem.
      const first = await pages.next();
      if (first.done && !format.mayBeEmpty)
        throw new AppError('not_found', 'No finding matches the filters, and a document in this format cannot be empty. Remove or relax a filter.');
      const texts = format.write(startingWith(first, pages), {
        organization: organization.name,
        started,
        assets: () => exportAssets(db, orgId, filter, started),
      });
      reply.header('content-type', format.mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : format.mediaType);
      reply.header('content-disposition', `attachment; filename="findings-${started.toISOString().slice(0, 10)}.${format.extension}"`);
      return reply.send(request.method === 'HEAD' ? '' : Readable.from(texts));
    },
  );
}

async function* startingWith(first: IteratorResult<ExportedFinding[]>, rest: AsyncGenerator<ExportedFinding[]>): AsyncGenerator<ExportedFinding[]> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
