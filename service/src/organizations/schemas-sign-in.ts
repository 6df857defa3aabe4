import { Type } from 'typebox';
import { Named, Nullable, Strict, Text, Timestamp } from '../http/schemas.ts';

export const SignInMethods = Named(
  'SignInMethods',
  {
    password: Type.Boolean({ description: 'Whether members can sign in with e-mail and password (`POST /sessions`)', examples: [true] }),
    oidc: Nullable(
      Named(
        'OidcSignIn',
        {
          name: Type.String({ description: 'Host name of the identity provider, for the button', examples: ['login.example.com'] }),
          start_url: Type.String({ description: 'Path to send the browser to', examples: ['/api/v1/sessions/oidc/start'] }),
        },
        { description: 'Sign-in at the identity provider. null: not configured' },
      ),
    ),
  },
  { description: 'Ways in which members can sign in' },
);

export const ServiceFacts = Named('Service', {
  version: Type.String({ description: 'Version of the service', examples: ['1.4.0'] }),
  time: { ...Timestamp, description: 'Current time of the service' },
  sign_in: SignInMethods,
  limits: Named(
    'ServiceLimits',
    {
      body_bytes: Type.Integer({ description: 'Maximum size of a JSON body, in bytes', examples: [1_048_576] }),
      report_bytes: Type.Integer({ description: 'Maximum size of a report file, in bytes', examples: [1_073_741_824] }),
      artifact_bytes: Type.Integer({ description: 'Maximum size of an artifact, in bytes', examples: [104_857_600] }),
    },
    { description: 'Limits that the operator has configured' },
  ),
  setup_required: Type.Boolean({ description: 'Whether the first owner still has to be created, with the setup key (`POST /setup`)', examples: [false] }),
  documentation_url: Type.String({ description: 'Path of the API documentation', examples: ['/docs/'] }),
});

export const OidcStartQuery = Strict({
  next: Type.Optional(
    Text(1, 2_000, { description: 'Path of this service to go to after signing in, such as `/findings?severity=high`. Default: `/`', examples: ['/findings'] }),
  ),
  organization: Type.Optional(Text(1, 63, { description: 'Slug of the organization. Required only if you are a member of several', examples: ['default'] })),
});

const Parameter = (description: string, example: string) => Type.Optional(Type.String({ maxLength: 8_000, description, examples: [example] }));
/** Providers may add parameters of their own (RFC 6749, section 4.1.2). */
export const OidcCallbackQuery = Type.Object(
  {
    state: Parameter('Value that the service sent to the identity provider', 'Zy5k0rCq'),
    code: Parameter('Authorization code', 'SplxlOBeZQQYbYS6WxSbIA'),
    iss: Parameter('Issuer of the response (RFC 9207)', 'https://login.example.com'),
    error: Parameter('Error code of the identity provider', 'access_denied'),
    error_description: Parameter('Explanation of the error', 'The user refused to sign in.'),
  },
  { additionalProperties: true },
);
