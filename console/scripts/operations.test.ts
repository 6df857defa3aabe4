import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const description = JSON.parse(readFileSync(`${root}service/openapi.json`, 'utf8')) as { paths: Record<string, Record<string, { operationId?: string }>> };
const operations = Object.values(description.paths).flatMap((path) => Object.values(path).flatMap(({ operationId }) => operationId ?? []));

// live.ts names what events make out of date, which does not mean that somebody reads it.
const files = globSync('console/src/**/*.{ts,tsx}', { cwd: root }).filter((file) => !/\.test\.ts|api\/live\.ts$/.test(file));
const source = files.map((file) => readFileSync(`${root}${file}`, 'utf8')).join('\n');

/** Operations that the console calls by their address: downloads, uploads and the event stream. */
const byAddress: Record<string, string> = {
  createImport: '/api/v1/imports?',
  exportAuditEvents: '/api/v1/audit-events/export',
  downloadEvidencePackage: 'found.downloads',
  downloadSharedEvidencePackage: 'downloads.find(',
  exportFindings: '/findings/export',
  getArtifactContent: '/content`',
  getEvidenceStatusStatement: '/status-statement`',
  getImportFile: '/file`',
  startOidcSignIn: 'start_url',
  streamEvents: 'followEvents(',
};

const DETAILS_IN_LIST = 'The list has all that it returns.';
/** Operations that the console does not need, and why. */
const never: Record<string, string> = {
  finishOidcSignIn: 'The identity provider leads the browser there.',
  getApiKey: DETAILS_IN_LIST,
  getArtifact: DETAILS_IN_LIST,
  getDescription: 'The documentation page shows it.',
  getMember: DETAILS_IN_LIST,
  getPipelineTrust: DETAILS_IN_LIST,
  getView: DETAILS_IN_LIST,
  listTickets: 'The work item has them.',
  addWorkItemFindings: 'The console adds findings with the bulk change of findings.',
  endTracks: 'CI systems call it when a pull request is closed.',
  receiveTicketMessage: 'Ticketing systems call it.',
  verifyEvidencePackage: 'The console verifies in the browser, which need not trust the service.',
  verifyUploadedPackage: 'The console verifies in the browser, so that nothing is uploaded.',
};

const isUsed = (operation: string): boolean => source.includes(`'${operation}'`);

it('uses every operation of the API, or says why not', () => {
  const undecided = operations.filter((operation) => !isUsed(operation) && !byAddress[operation] && !never[operation]);
  expect(undecided, 'Use it in the console, or add it to a table above.').toEqual([]);
});

it('calls by their address what it says', () => {
  expect(Object.entries(byAddress).filter(([, address]) => !source.includes(address))).toEqual([]);
});

it('names no operation that the API no longer has, and gives no reason for one that it uses', () => {
  const named = [...Object.keys(byAddress), ...Object.keys(never)];
  expect(named.filter((operation) => !operations.includes(operation))).toEqual([]);
  expect(Object.keys(never).filter(isUsed)).toEqual([]);
});
