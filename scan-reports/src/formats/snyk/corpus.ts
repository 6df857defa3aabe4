import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['snyk', 'snyk_issue_api'],
  unit: 'findings',
  exceptions: {
    'snyk/snykcontainer_issue_epss.json': {
      count: 13,
      reason: 'includes the 12 vulnerabilities of applications in the image, which the reference parser skips',
    },
  },
  differs: [
    {
      field: 'file_path',
      reason: 'the reference parser writes the dependency path ("a > b > c"); this format uses the manifest and keeps the dependency path in the description',
    },
  ],
};
