import { Type } from 'typebox';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { Email, Name, OrganizationRef, Password, RevokeApiKeys } from './schemas.ts';

const Kind = OneOf(['invitation', 'password_reset'] as const, { description: 'Whether the member chooses the first password or a new one' });
const ExpiresAt = { ...Timestamp, description: 'When the link expires' };

export const InvitationCreated = Named('InvitationCreated', {
  id: Id,
  kind: Kind,
  url: Type.String({
    description: 'The link. It works once and cannot be retrieved again. Send it to the member only',
    examples: ['https://rrs.example.com/invitation#token=inv_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfGhIjKlMnOpQrStUvWxYz01'],
  }),
  expires_at: ExpiresAt,
});
export const InvitationParams = Strict({
  token: Type.String({
    maxLength: 200,
    description: 'Token of the link, after `#token=`',
    examples: ['inv_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfGhIjKlMnOpQrStUvWxYz01'],
  }),
});
export const Invitation = Named('Invitation', { kind: Kind, email: Email, name: Name, organization: OrganizationRef, expires_at: ExpiresAt });
export const InvitationAcceptance = Named('InvitationAcceptance', {
  password: Password,
  revoke_api_keys: Type.Optional(RevokeApiKeys),
});

export const SetupBody = Named('Setup', {
  key: Text(1, 200, {
    description: 'Setup key that the first start of the service printed',
    writeOnly: true,
    examples: ['stp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdEfGhIjKlMnOpQrStUvWxYz01'],
  }),
  email: Email,
  name: Name,
  password: Password,
});

export const SessionParams = Strict({ id: Id });
export const OwnSessionList = Named('SessionList', {
  data: Type.Array(
    Named('Session', {
      id: Id,
      method: OneOf(['password', 'oidc'] as const, { description: 'How the member signed in' }),
      current: Type.Boolean({ description: 'Whether this request uses the session' }),
      address: Nullable(Type.String({ description: 'IP address from which the member signed in', examples: ['192.0.2.7'] })),
      user_agent: Nullable(Type.String({ description: 'Browser with which the member signed in', examples: ['Mozilla/5.0'] })),
      created_at: { ...Timestamp, description: 'When the member signed in' },
      expires_at: { ...Timestamp, description: 'When the session expires' },
    }),
    { description: 'The newest sessions, at most 100' },
  ),
});
