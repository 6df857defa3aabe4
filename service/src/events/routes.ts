import type { App } from '../http/app.ts';
import type { EventDeps } from './deps.ts';
import { deliveryRoutes } from './routes-deliveries.ts';
import { streamRoutes } from './routes-stream.ts';
import { webhookRoutes } from './routes-webhooks.ts';
import { createSecretBox } from './webhooks/secrets.ts';

export function eventRoutes(deps: EventDeps) {
  return (app: App): void => {
    const box = createSecretBox(deps.secret);
    webhookRoutes(app, { ...deps, box });
    deliveryRoutes(app, { ...deps, box });
    streamRoutes(app, deps);
  };
}
