import type { Asset, Client } from '@rrs/client';
import { choiceOf, choicesOf, flagOf, given, JSON_OPTION, LIMIT_OPTION, listOf, oneArgument, textOf } from '../arguments.ts';
import { collect } from '../collect.ts';
import { type Call, type Command, UsageError } from '../command.ts';
import { dayOf, pageSize, printFacts, printList } from '../print.ts';
import type { Column } from '../terminal.ts';

const TYPES = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'] as const;
const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
const EXPOSURES = ['internet', 'internal', 'unknown'] as const;

const columns: readonly Column<Asset>[] = [
  { title: 'type', value: ({ type }) => type },
  { title: 'criticality', value: ({ criticality }) => criticality, style: ({ criticality }) => criticality },
  { title: 'exposure', value: ({ exposure }) => exposure },
  { title: 'owner', value: ({ owner }) => owner ?? '', isCut: true },
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name, retired }) => `${name}${retired ? ' (retired)' : ''}` },
];

export const listAssets: Command = {
  options: {
    type: { type: 'string', multiple: true, value: 'LIST', help: `One of these types: ${TYPES.join(', ')}.`, choices: TYPES },
    name: { type: 'string', value: 'TEXT', help: 'Name contains this.' },
    criticality: { type: 'string', multiple: true, value: 'LIST', help: `One of ${LEVELS.join(', ')}.`, choices: LEVELS },
    exposure: { type: 'string', multiple: true, value: 'LIST', help: `One of ${EXPOSURES.join(', ')}.`, choices: EXPOSURES },
    tag: { type: 'string', multiple: true, value: 'LIST', help: 'With one of these tags.' },
    retired: { type: 'boolean', help: 'Retired assets. --no-retired: assets in use.' },
    ...LIMIT_OPTION,
    ...JSON_OPTION,
  },
  examples: ['rrs assets list --type repository --no-retired', 'rrs assets list --criticality critical --exposure internet --json'],
  run(call) {
    const query = given({
      type: some(choicesOf(call, 'type', TYPES)),
      name: textOf(call, 'name'),
      criticality: some(choicesOf(call, 'criticality', LEVELS)),
      exposure: some(choicesOf(call, 'exposure', EXPOSURES)),
      tag: some(listOf(call, 'tag')),
      retired: flagOf(call, 'retired'),
    });
    return printList(call, call.client().list('listAssets', { query: { ...query, limit: pageSize(call) } }), columns, 'No assets.');
  },
};

const some = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);

export const showAsset: Command = {
  arguments: 'ID|NAME',
  options: JSON_OPTION,
  examples: ['rrs assets show github.com/acme/shop', 'rrs assets show 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --json'],
  async run(call) {
    const client = call.client();
    const id = await idOf(client, call);
    const asset = await client.call('getAsset', { path: { id } });
    const tracks = await collect(client.list('listAssetTracks', { path: { id }, query: { limit: 200 } }));
    return printFacts(call, { ...asset, tracks }, asset.name, {
      ...factsOf(asset),
      identifiers: asset.identifiers.map(({ kind, value }) => `${kind} ${value}`).join(', '),
      tracks: tracks.map(({ name, ended_at }) => (ended_at === null ? name : `${name} (ended ${dayOf(ended_at)})`)).join(', '),
      link: `${call.url()}/assets/${id}`,
    });
  },
};

function factsOf(asset: Asset): Record<string, string | null> {
  const { id, type, criticality, exposure, owner, tags, retired_at } = asset;
  return { id, type, criticality, exposure, owner, tags: tags.join(', '), retired: dayOf(retired_at) };
}

export const updateAsset: Command = {
  arguments: 'ID|NAME',
  options: {
    criticality: { type: 'string', value: 'LEVEL', help: `One of ${LEVELS.join(', ')}.`, choices: LEVELS },
    exposure: { type: 'string', value: 'EXPOSURE', help: `One of ${EXPOSURES.join(', ')}.`, choices: EXPOSURES },
    owner: { type: 'string', value: 'NAME', help: 'Who is responsible. "" removes the owner.' },
    tag: { type: 'string', multiple: true, value: 'LIST', help: 'The tags that the asset has from now on.' },
    retired: { type: 'boolean', help: 'Retire the asset. --no-retired: use it again.' },
    ...JSON_OPTION,
  },
  examples: ['rrs assets update github.com/acme/shop --criticality critical --owner team-shop@example.com', 'rrs assets update web1.example.com --retired'],
  async run(call) {
    const owner = textOf(call, 'owner');
    const body = given({
      criticality: choiceOf(call, 'criticality', LEVELS),
      exposure: choiceOf(call, 'exposure', EXPOSURES),
      owner: owner === '' ? null : owner,
      tags: call.values.tag === undefined ? undefined : listOf(call, 'tag'),
      retired: flagOf(call, 'retired'),
    });
    if (Object.keys(body).length === 0) throw new UsageError('Name a change, such as --criticality high.');
    const client = call.client();
    const asset = await client.call('updateAsset', { path: { id: await idOf(client, call) }, body });
    return printFacts(call, asset, asset.name, factsOf(asset));
  },
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** People know assets by name. A name must be that of exactly one. */
async function idOf(client: Client, call: Call): Promise<string> {
  const name = oneArgument(call, 'one asset by its id or name. "rrs assets list" shows them');
  if (UUID.test(name)) return name;
  const { data } = await client.call('listAssets', { query: { name, limit: 200 } });
  const [found, another] = data.filter((asset) => asset.name.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw new UsageError(`There is no asset "${name}". "rrs assets list --name ${name}" lists similar ones.`);
  if (another !== undefined)
    throw new UsageError(`There are several assets "${name}". Name one by its id: ${found.id} (${found.type}) or ${another.id} (${another.type}).`);
  return found.id;
}
