import stringifier from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { AppError, messageOf } from '../../shared/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Of schemas that requests share with responses. Unknown ones would be reported on stderr. */
const OUR_FORMATS = { formats: { name: true } } as const;

/** Compiles each serializer on first use, because compiling hundreds of schemas would slow down the start. */
export function installSerializers(app: FastifyInstance): void {
  app.setSerializerCompiler(({ schema }) => {
    let stringify: ((body: unknown) => string) | undefined;
    return (body) => {
      stringify ??= stringifier(schema as stringifier.Schema, { ajv: OUR_FORMATS });
      return stringify(body);
    };
  });
}

/** Accepts only JSON bodies. By default, Fastify also accepts plain text and silently replaces invalid UTF-8. */
export function installJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', 'application/merge-patch+json'], { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // An empty body counts as absent, whatever the Content-Type. Validation decides whether a body is required.
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      return done(new AppError('malformed_request', 'The body is not valid UTF-8.'));
    }
    void parse(request, text, (error, value) => (error ? done(new AppError('malformed_request', describeFailure(text))) : done(null, value)));
  });
}

function describeFailure(text: string): string {
  try {
    JSON.parse(text);
    return 'The body contains the key "__proto__" or "constructor.prototype", which is not allowed.';
  } catch (error) {
    return `The body is not valid JSON: ${messageOf(error)}.`;
  }
}
