import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { createShares } from '../http/requests/shares.ts';
import { media, OneOf, problems, Strict } from '../http/schemas.ts';
import { readOrganization } from '../organizations/organization.ts';
import { AppError } from '../shared/errors.ts';
import type { FindingDeps } from './deps.ts';
import { EXPORT_SHARES } from './export/exports.ts';
import { exportFormats } from './export/formats.ts';
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

export function exportRoutes(app: App, { db, exports }: FindingDeps): void {
  const shares = createShares(EXPORT_SHARES);
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
      const gone = new AbortController();
      reply.raw.once('close', () => {
        release();
        gone.abort(new Error('the client is gone'));
      });
      const { format: name, ...filter } = request.query;
      const { mediaType, extension, mayBeEmpty } = exportFormats[name];
      const started = new Date();
      const organization = await db.withTenant(request.actor, (tx) => readOrganization(tx, orgId));
      // An error in the first part can still be reported as a problem.
      const file = await exports.open({ orgId, organization: organization.name, format: name, filter, started }, gone.signal);
      if (file.readableLength === 0 && !mayBeEmpty)
        throw new AppError('not_found', 'No finding matches the filters, and a document in this format cannot be empty. Remove or relax a filter.');
      reply.header('content-type', mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType);
      reply.header('content-disposition', `attachment; filename="findings-${started.toISOString().slice(0, 10)}.${extension}"`);
      return reply.send(request.method === 'HEAD' ? '' : file);
    },
  );
}
