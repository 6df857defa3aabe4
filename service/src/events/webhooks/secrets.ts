import { keyFor, seal, unseal } from '../../shared/sealed.ts';

/** Signing secrets are stored encrypted. Each ciphertext is bound to its webhook and cannot be moved to another one. */
export interface SecretBox {
  seal(orgId: string, webhookId: string, secret: string): Buffer;
  open(orgId: string, webhookId: string, sealed: Buffer): string;
}

export function createSecretBox(instanceSecret: Buffer): SecretBox {
  const key = keyFor('signing secrets of webhooks', instanceSecret);
  return {
    seal: (orgId, webhookId, secret) => seal(key, secret, `${orgId}/${webhookId}`),
    open: (orgId, webhookId, sealed) => unseal(key, sealed, `${orgId}/${webhookId}`),
  };
}
