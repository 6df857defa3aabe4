/** The rules of ARCHITECTURE.md that a program can check. */
const features = [
  'audit',
  'events',
  'organizations',
  'assets',
  'pipelines',
  'vulnerabilities',
  'findings',
  'integrations',
  'work-items',
  'comments',
  'evidence',
  'search',
];
const any = `(${features.join('|')})`;

const leftwards = features.slice(0, -1).map((feature, index) => ({
  name: `${feature}-imports-only-leftwards`,
  comment: `Features import only features to their left: ${features.join(', ')}.`,
  severity: 'error',
  from: { path: `^service/src/${feature}/` },
  to: { path: `^service/src/(${features.slice(index + 1).join('|')})/` },
}));

/** What the sub-folders of a feature may import of each other. Routes, schemas and wiring on top of the feature may import all of them. */
const subFolders = {
  findings: {
    fields: [],
    identity: [],
    decisions: ['fields'],
    list: ['fields', 'identity'],
    counts: ['fields', 'list'],
    export: ['fields', 'list'],
    merge: ['fields', 'identity', 'decisions'],
    absence: ['merge'],
    import: ['absence', 'merge', 'decisions', 'endings', 'identity', 'identity-changes'],
    details: ['fields', 'list', 'merge', 'absence'],
    facts: ['fields', 'list', 'merge', 'import'],
    endings: ['merge', 'decisions'],
    sources: ['endings'],
    'identity-changes': ['fields', 'identity', 'list', 'merge', 'decisions', 'endings'],
    triage: ['fields', 'list', 'merge', 'decisions', 'endings', 'identity-changes'],
  },
  evidence: {
    keys: [],
    artifacts: [],
    formats: [],
    log: ['keys'],
    content: ['artifacts', 'formats', 'log', 'packages'],
    packages: ['artifacts', 'content', 'formats', 'keys', 'log', 'verify'],
    preview: ['content', 'log', 'packages'],
    sharing: ['packages'],
    verify: ['keys', 'packages', 'sharing'],
    deep: ['formats'],
  },
};

const withinFeatures = Object.entries(subFolders).flatMap(([feature, folders]) =>
  Object.entries(folders).flatMap(([folder, allowed]) => {
    const others = Object.keys(folders).filter((other) => other !== folder && !allowed.includes(other));
    return {
      name: `${feature}-${folder}-imports`,
      comment: `${feature}/${folder} may import ${[...allowed, 'nothing else'].join(', ')} of the sub-folders of ${feature}.`,
      severity: 'error',
      from: { path: `^service/src/${feature}/${folder}/`, pathNot: '\\.test\\.ts$' },
      to: { path: `^service/src/${feature}/(${others.join('|')})/` },
    };
  }),
);

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...leftwards,
    ...withinFeatures,
    {
      name: 'front-door',
      comment: "Another feature's routes, handlers, schemas and queries are private.",
      severity: 'error',
      from: { path: `^service/src/${any}/` },
      to: { path: `^service/src/${any}/(routes|handlers|schemas|queries)[a-z-]*\\.ts$`, pathNot: '^service/src/$1/' },
    },
    { name: 'routes-do-not-query', severity: 'error', from: { path: '/routes[a-z-]*\\.ts$' }, to: { path: '/queries[a-z-]*\\.ts$' } },
    {
      name: 'only-routes-see-http',
      comment: 'Fastify stays in http/ and in routes. The shapes of http/schemas.ts are data that domain files may use.',
      severity: 'error',
      from: { path: `^service/src/${any}/`, pathNot: '/(routes|schemas)[a-z-]*\\.ts$' },
      to: { path: '(^service/src/http/(?!schemas\\.ts))|(node_modules/(fastify|@fastify)/)' },
    },
    {
      name: 'base-knows-no-feature',
      severity: 'error',
      from: { path: '^service/src/(shared|db|blobs|jobs|net|validation|http)/' },
      to: { path: `^service/src/(main|${features.join('|')})/` },
    },
    {
      name: 'shared-does-no-io',
      severity: 'error',
      from: { path: '^service/src/shared/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^service/src/shared/|^(node:)?crypto$' },
    },
    {
      name: 'only-db-and-main-see-pg',
      severity: 'error',
      from: { path: '^service/src/', pathNot: '^service/src/(db|main|jobs|testing)/|\\.test\\.ts$' },
      to: { path: 'node_modules/(pg|pg-copy-streams)/' },
    },
    {
      name: 'nobody-imports-main',
      severity: 'error',
      from: { path: '^service/src/', pathNot: '^service/src/(main|testing)/|\\.test\\.ts$' },
      to: { path: '^service/src/main/' },
    },
    {
      name: 'tests-stay-outside',
      severity: 'error',
      from: { path: '^service/src/', pathNot: '(\\.test\\.ts$)|(^service/src/testing/)' },
      to: { path: '(\\.test\\.ts$)|(^service/src/testing/)' },
    },
    {
      name: 'the-client-stands-alone',
      comment: 'The client runs in browsers and in programs of other people, so it imports nothing but its own files.',
      severity: 'error',
      from: { path: '^client/src/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^client/src/' },
    },
    {
      name: 'the-console-uses-only-the-client',
      comment: 'The console runs in browsers. Of this repository it knows the client and the verifier.',
      severity: 'error',
      from: { path: '^console/src/', pathNot: '\\.test\\.tsx?$' },
      to: { pathNot: '^(console/src|client/src|verifier/src|evidence-format/src)/|node_modules/' },
    },
    {
      name: 'pages-do-not-share',
      comment: 'Areas of the console are built independently. What two of them need is in parts/ or lists/.',
      severity: 'error',
      from: { path: '^console/src/pages/([^/]+)/' },
      to: { path: '^console/src/pages/', pathNot: '^console/src/pages/$1/' },
    },
    {
      name: 'console-parts-know-no-page',
      severity: 'error',
      from: { path: '^console/src/(api|keys|lists|parts|theme)/' },
      to: { path: '^console/src/(app|pages)/' },
    },
    {
      name: 'formats-do-not-share',
      severity: 'error',
      from: { path: '^scan-reports/src/formats/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^scan-reports/src/formats/', pathNot: '^scan-reports/src/formats/$1/' },
    },
    {
      name: 'formats-are-pure',
      severity: 'error',
      from: { path: '^scan-reports/src/formats/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:)?(fs|fs/promises|net|http|https|child_process|process)$|^service/' },
    },
    {
      name: 'vendors-do-not-share',
      comment: 'A connector costs one folder and two registry lines, so no connector imports another.',
      severity: 'error',
      from: { path: '^connectors/src/(scanners|enrichment|ticketing)/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^connectors/src/(scanners|enrichment|ticketing)/', pathNot: '^connectors/src/$1/$2/' },
    },
    {
      name: 'vendors-share-within-a-product',
      comment: 'Only editions of one product share code: shared/jira is for jira and jira_data_center.',
      severity: 'error',
      from: { path: '^connectors/src/(?:scanners|enrichment|ticketing)/([a-z0-9]+)[^/]*/' },
      to: { path: '^connectors/src/shared/', pathNot: '^connectors/src/shared/$1/' },
    },
    {
      name: 'connector-core-knows-no-vendor',
      severity: 'error',
      from: { path: '^connectors/src/core/', pathNot: '\\.test\\.ts$' },
      to: { path: '^connectors/src/', pathNot: '^connectors/src/core/' },
    },
    {
      name: 'connector-fakes-stay-outside',
      comment: 'Connectors run in production; the fake vendors and the test host do not.',
      severity: 'error',
      from: { path: '^connectors/src/', pathNot: '\\.test\\.ts$|/fake[a-z-]*\\.ts$|^connectors/src/testing/' },
      to: { path: '^connectors/src/(testing/|.*\\.test\\.ts$|.*/fake[a-z-]*\\.ts$)' },
    },
    {
      name: 'vendors-are-given-what-they-need',
      comment: 'Connectors do not use the database, files or the network directly. The host gives them an HTTP client.',
      severity: 'error',
      from: { path: '^connectors/src/', pathNot: '\\.test\\.ts$|/fake[a-z-]*\\.ts$' },
      to: { path: '^(node:)?(fs|fs/promises|net|http|https|child_process|process|dns|tls)$|^service/' },
    },
    {
      name: 'evidence-format-is-pure',
      comment: 'It runs in browsers too: it imports nothing but its own files.',
      severity: 'error',
      from: { path: '^evidence-format/src/', pathNot: '(\\.test\\.ts$)|(^evidence-format/src/testing/)' },
      to: { pathNot: '^evidence-format/src/(?!testing/)' },
    },
    {
      name: 'verifier-stands-alone',
      comment: 'An auditor reads it in one sitting: the format, the platform, and no network.',
      severity: 'error',
      from: { path: '^verifier/(src|bin|page)/', pathNot: '\\.test\\.ts$|^verifier/src/testing/' },
      to: { pathNot: '^(verifier/src|evidence-format/src)/|^scripts/launch\\.mjs$|^(node:)?(child_process|crypto|fs|fs/promises|module|path|url|util|zlib)$' },
    },
    { name: 'acceptance-is-black-box', severity: 'error', from: { path: '^acceptance/' }, to: { path: '^(service|bench)/' } },
    { name: 'no-undeclared-packages', severity: 'error', from: {}, to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] } },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(console|service)/dist' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
