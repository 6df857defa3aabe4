import type { ResultOf } from '@rrs/client';

export type Webhook = ResultOf<'getWebhook'>;

export const statusOf = ({ enabled, failing_since }: Webhook): string => (!enabled ? 'paused' : failing_since ? 'failing' : 'active');
