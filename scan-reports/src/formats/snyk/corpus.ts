import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['snyk', 'snyk_issue_api'],
  unit: 'findings',
  exceptions: {
    'snyk/snykcontainer_issue_epss.json': { count: 13, reason: 'with the 12 vulnerabilities of the applications in the image, which the peer passes over' },
  },
  differs: [
    {
      field: 'file_path',
      reason: 'the peer writes the dependency path ("a > b > c") there; our path is the manifest, and the dependency path stands in the description',
    },
  ],
};
