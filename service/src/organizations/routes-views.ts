import type { Static } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { OrganizationDeps } from './deps.ts';
import { Preferences, View, ViewCreate, ViewList, ViewParams, ViewPatch, ViewQuery } from './schemas-views.ts';
import { MOST_VIEWS } from './views/limits.ts';
import { readPreferences, replacePreferences } from './views/preferences.ts';
import { createView, deleteView, listViews, readView, updateView, type ViewRow } from './views/views.ts';

const tag = 'Views and preferences';

export function viewRoutes(app: App, deps: OrganizationDeps): void {
  listRoute(app, deps, '/views', {
    access: 'views:save',
    operationId: 'listViews',
    summary: 'List saved views',
    description: 'Returns your own saved views of lists and those of the organization, by their position.',
    tag,
    query: ViewQuery,
    list: ViewList,
    read: async (tx, { actor, query, page }) => presentPage(await listViews(tx, actor, query, page), toView),
  });

  app.post(
    '/views',
    {
      config: { access: 'views:save' },
      schema: {
        operationId: 'createView',
        summary: 'Save a view',
        description: `Saves filters, columns and sort order of a list under a name, for you or for the organization. Views of the organization require the permission \`views:share\`. You and the organization can have ${MOST_VIEWS} views each. Returns 409 if the name is taken.`,
        tags: [tag],
        headers: IdempotencyHeaders,
        body: ViewCreate,
        response: { 201: View, ...problems('conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const view = await createView(tx, request.actor, request.body);
        return { status: 201, headers: { location: `/api/v1/views/${view.id}`, etag: `"${view.version}"` }, body: toView(view) };
      }),
  );

  getRoute(app, deps, '/views/:id', {
    access: 'views:save',
    operationId: 'getView',
    summary: 'Get a saved view',
    description: 'Returns one of your own views, or one of the organization.',
    tag,
    params: ViewParams,
    body: View,
    read: async (tx, { actor, params }) => toView(await readView(tx, actor, params.id)),
  });

  patchRoute(app, deps, '/views/:id', {
    access: 'views:save',
    operationId: 'updateView',
    summary: 'Change a saved view',
    description:
      'Changes a view with a JSON merge patch. Views of the organization require the permission `views:share`. Returns 409 if the new name is taken.',
    tag,
    params: ViewParams,
    problems: ['conflict'],
    patch: ViewPatch,
    body: View,
    change: async (tx, { actor, params, patch, check }) => toView(await updateView(tx, actor, { id: params.id, patch, check })),
  });

  deleteRoute(app, deps, '/views/:id', {
    access: 'views:save',
    operationId: 'deleteView',
    summary: 'Delete a saved view',
    description: 'Deletes a view. Views of the organization require the permission `views:share`.',
    tag,
    params: ViewParams,
    remove: (tx, { actor, params }) => deleteView(tx, actor, params.id),
  });

  getRoute(app, deps, '/me/preferences', {
    access: 'views:save',
    operationId: 'getPreferences',
    summary: 'Get your preferences',
    description: 'Returns what you stored with `PUT /me/preferences`. All your sessions and API keys share it. An empty object if you stored nothing.',
    tag,
    body: Preferences,
    read: (tx, { actor }) => readPreferences(tx, actor),
  });

  app.put(
    '/me/preferences',
    {
      config: { access: 'views:save' },
      schema: {
        operationId: 'replacePreferences',
        summary: 'Replace your preferences',
        description: 'Stores any JSON object, such as the settings of a user interface, and replaces what you stored before.',
        tags: [tag],
        body: Preferences,
        response: { 200: Preferences },
      },
    },
    async ({ actor, body }, reply) => reply.send(await deps.db.withTenant(actor, (tx) => replacePreferences(tx, actor, body))),
  );
}

function toView({ owner, created_at, updated_at, ...row }: ViewRow): Static<typeof View> {
  return { ...row, scope: owner === null ? 'organization' : 'mine', created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
