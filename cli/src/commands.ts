import type { Commands } from './command.ts';

const findings = () => import('./commands/findings.ts');
const triage = () => import('./commands/triage.ts');
const assets = () => import('./commands/assets.ts');
const work = () => import('./commands/work.ts');
const changeWork = () => import('./commands/change-work.ts');
const evidence = () => import('./commands/evidence.ts');
const sharing = () => import('./commands/share-evidence.ts');
const connections = () => import('./commands/connections.ts');
const login = () => import('./commands/login.ts');

export const commands: Commands = {
  login: { summary: 'Store the address of the service and an API key for this user', load: async () => (await login()).login },
  logout: { summary: 'Delete what "rrs login" stored', load: async () => (await login()).logout },
  whoami: { summary: 'Show who you are for the service', load: async () => (await login()).whoami },
  import: { summary: 'Import scan reports and show what changed', load: async () => (await import('./commands/import.ts')).importReports },
  gate: {
    summary: 'Pass or fail on the findings of the last import, of named imports or of a filter',
    load: async () => (await import('./commands/gate.ts')).gate,
  },
  ci: { summary: 'Import the reports of a pipeline and decide over their findings', load: async () => (await import('./commands/ci.ts')).ci },
  'findings list': { summary: 'List findings, those with the highest risk first', load: async () => (await findings()).listFindings },
  'findings show': { summary: 'Show a finding', load: async () => (await findings()).showFinding },
  'findings triage': { summary: 'Change the status, severity or tags of findings', load: async () => (await triage()).triageFindings },
  'findings export': { summary: 'Export findings to a file', load: async () => (await findings()).exportFindings },
  'assets list': { summary: 'List assets', load: async () => (await assets()).listAssets },
  'assets show': { summary: 'Show an asset with its tracks', load: async () => (await assets()).showAsset },
  'assets update': { summary: 'Change criticality, exposure, owner or tags of an asset, or retire it', load: async () => (await assets()).updateAsset },
  'work list': { summary: 'List work items', load: async () => (await work()).listWork },
  'work show': { summary: 'Show a work item with its findings', load: async () => (await work()).showWork },
  'work create': { summary: 'Create a work item for findings', load: async () => (await changeWork()).createWork },
  'work add': { summary: 'Add findings to a work item', load: async () => (await changeWork()).addToWork },
  'work update': { summary: 'Change a work item', load: async () => (await changeWork()).updateWork },
  'work approve': { summary: 'Approve or reject the current state of a work item', load: async () => (await changeWork()).approveWork },
  'evidence list': { summary: 'List evidence packages', load: async () => (await evidence()).listEvidence },
  'evidence seal': { summary: 'Seal an evidence package of a work item', load: async () => (await evidence()).sealEvidence },
  'evidence download': { summary: 'Download an evidence package or one of its readable files', load: async () => (await evidence()).downloadEvidence },
  'evidence share': {
    summary: 'Create a link with which somebody without an account can download a package',
    load: async () => (await sharing()).shareEvidence,
  },
  'evidence verify': { summary: 'Verify evidence packages on this machine', load: async () => (await sharing()).verifyEvidence },
  'connections list': {
    summary: 'List the connections to scanners, enrichment and ticketing systems',
    load: async () => (await connections()).listConnections,
  },
  'connections sync': { summary: 'Run connections now', load: async () => (await connections()).syncConnections },
  'connections health': { summary: 'Show which connections work', load: async () => (await connections()).connectionsHealth },
  watch: { summary: 'Print events as they happen', load: async () => (await import('./commands/watch.ts')).watch },
  open: { summary: 'Open the service, or what has an id, in the browser', load: async () => (await import('./commands/open.ts')).open },
  completion: {
    summary: 'Print a script that completes commands in a shell',
    load: async () => (await import('./commands/completion.ts')).completionOf(commands),
  },
};
