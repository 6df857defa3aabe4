import { X509Certificate } from 'node:crypto';
import { type Static, type TObject, Type } from 'typebox';
import type { FieldHints } from './fields.ts';

const hints: FieldHints = { 'x-group': 'advanced', 'x-multiline': true };

const fields = {
  certificate_authority: Type.Optional(
    Type.String({
      ...hints,
      title: 'Certificate authority',
      description:
        'PEM certificates of the authority that signed the certificate of the server, if it is a private one. Trusted for this connection only, in addition to the authorities that the service trusts.',
      examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n'],
      maxLength: 50_000,
    }),
  ),
};
const Trust = Type.Object(fields);

interface Problem {
  path: string;
  detail: string;
}

/** A connection to a server that the customer may run can trust an authority of its own. */
export function withAuthority<C extends TObject>(config: C): C {
  const hasUrl = Object.values(config.properties).some((field) => 'format' in field && field.format === 'uri');
  return hasUrl ? { ...config, properties: { ...config.properties, ...fields } } : config;
}

/** The PEM certificates that the connection trusts. Null if it could have some, undefined if it cannot. */
export function authorityOf({ config }: { config: TObject }, settings: { config: Static<TObject> }): string | null | undefined {
  if (!('certificate_authority' in config.properties)) return undefined;
  const { certificate_authority }: Static<typeof Trust> = settings.config;
  return certificate_authority ?? null;
}

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** OpenSSL silently skips certificates that it cannot read, and the error would appear only when one is needed. */
export function authorityProblems(connector: { config: TObject }, settings: { config: Static<TObject> }, now: Date): Problem[] {
  const pem = authorityOf(connector, settings);
  if (typeof pem !== 'string') return [];
  const problem = (detail: string): Problem[] => [{ path: '/config/certificate_authority', detail }];
  if (pem.includes('PRIVATE KEY-----')) return problem('must not contain a private key. Supply only certificates');
  const [, ...parts] = pem.split(BEGIN);
  if (parts.length === 0) return problem(`must contain a certificate in PEM format, which starts with ${BEGIN}`);
  return parts.flatMap((part, index) => {
    const which = parts.length === 1 ? 'the certificate' : `certificate ${index + 1} of ${parts.length}`;
    const certificate = parsed(part);
    if (!certificate) return problem(`cannot be read: ${which} is damaged or incomplete. Copy it again, from ${BEGIN} to ${END}`);
    const end = new Date(certificate.validTo);
    if (end >= now) return [];
    return problem(`has expired: ${which} (${certificate.subject.replaceAll('\n', ', ')}) was valid until ${end.toISOString().slice(0, 10)}`);
  });
}

function parsed(part: string): X509Certificate | null {
  const end = part.indexOf(END);
  if (end === -1) return null;
  try {
    return new X509Certificate(`${BEGIN}${part.slice(0, end)}${END}\n`);
  } catch {
    return null;
  }
}
