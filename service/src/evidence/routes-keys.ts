import { logId, toHex } from '@rrs/evidence-format';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { AppError } from '../shared/errors.ts';
import { publishedKeyList, publishedKeys } from './keys/keys.ts';
import { EvidenceKeys } from './schemas.ts';

export function keyRoutes(app: App, { db, publicUrl }: { db: Database; publicUrl: () => string }): void {
  app.get(
    '/riskops-evidence/keys',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'listEvidenceKeys',
        summary: 'List signing keys',
        description:
          'Returns every public key that ever signed a package or a checkpoint of a transparency log. Keys in use come first. Save the response as keys.json for `rrs-verify --keys`, which accepts exactly this form. Compare the fingerprints with those that you received through another channel: keys from this endpoint alone prove nothing.',
        tags: ['Evidence'],
        response: { 200: EvidenceKeys },
      },
    },
    async (_request, reply) => reply.send(await db.withSystem((tx) => publishedKeyList(tx, publicUrl()))),
  );
}

/** The same keys as files, at URLs that do not depend on the version of the API. */
export function wellKnownKeys(app: App, { db }: { db: Database }): void {
  const options = { config: { access: 'public' as const }, schema: { hide: true } };
  app.get('/.well-known/evidence/jwks.json', options, async (_request, reply) => {
    const keys = await db.withSystem(publishedKeys);
    return reply.type('application/jwk-set+json').send(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  });
  app.get<{ Params: { file: string } }>('/.well-known/evidence/keys/:file', options, async (request, reply) => {
    const { file } = request.params;
    const key = (await db.withSystem(publishedKeys)).find(({ spki }) => `${toHex(logId(spki))}.pem` === file);
    if (!key)
      throw new AppError('not_found', 'There is no such key. File names have the form <64 hexadecimal digits>.pem: the SHA-256 of the SubjectPublicKeyInfo.');
    return reply.type('application/x-pem-file').send(key.publicKeyPem);
  });
}
