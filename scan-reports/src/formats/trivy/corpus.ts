import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['trivy'],
  unit: 'findings',
  differs: [
    {
      field: 'file_path',
      files: ['trivy/kubernetes.json'],
      reason: 'The target of system packages is an image ("name (debian 10.4)"), no file: it is the resource, and the path stays empty',
    },
  ],
};
