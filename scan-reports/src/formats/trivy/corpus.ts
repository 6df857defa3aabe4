import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['trivy'],
  unit: 'findings',
  differs: [
    {
      field: 'file_path',
      files: ['trivy/kubernetes.json'],
      reason: 'the target of system packages is an image ("name (debian 10.4)") and not a file; this format keeps it as the resource, without a path',
    },
  ],
};
