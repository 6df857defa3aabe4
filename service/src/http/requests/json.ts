import stringifier from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { AppError, messageOf } from '../../shared/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** There are hundreds of schemas, and compiling them all would be a good part of a start: each is when it is first needed. */
export function installAnswers(app: FastifyInstance): void {
  app.setSerializerCompiler(({ schema }) => {
    let stringify: ((answer: unknown) => string) | undefined;
    return (answer) => {
      stringify ??= stringifier(schema as stringifier.Schema);
      return stringify(answer);
    };
  });
}

/** JSON bodies, and no others: Fastify would take plain text too, and repair broken UTF-8 in silence. */
export function installJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', 'application/merge-patch+json'], { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Nothing was sent, whatever the header says: whether that is enough is for the check of the body to say.
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      return done(new AppError('malformed_request', 'The body is not valid UTF-8.'));
    }
    void parse(request, text, (error, value) => (error ? done(new AppError('malformed_request', whyNot(text))) : done(null, value)));
  });
}

function whyNot(text: string): string {
  try {
    JSON.parse(text);
    return 'The body has a key "__proto__" or "constructor.prototype", which is not taken.';
  } catch (error) {
    return `The body is not valid JSON: ${messageOf(error)}.`;
  }
}
