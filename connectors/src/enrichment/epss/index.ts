import { Type } from 'typebox';
import { defineEnrichment } from '../../core/contract.ts';
import { checkApi, scoresByApi } from './api.ts';
import { checkFile, scoresByFile } from './file.ts';

export const epss = defineEnrichment({
  id: 'epss',
  name: 'FIRST EPSS',
  version: 1,
  description: 'How likely a CVE is to be exploited within the next 30 days: a score and a percentile for every CVE, new every day.',
  documentation: 'https://www.first.org/epss/api',
  permissions: 'nothing: the scores are public',
  config: Type.Object({
    mode: Type.Union(
      [
        Type.Literal('csv', { title: 'The daily file, with the scores of all CVEs' }),
        Type.Literal('api', { title: 'The API, for the CVEs that findings have and no others' }),
      ],
      { title: 'Get the scores from', description: 'The file is one request a day and tells nobody which CVEs you have.', default: 'csv' },
    ),
    csv_url: Type.String({
      title: 'Address of the daily file',
      description: 'Of FIRST, or of a mirror within your network; a CSV file, compressed with gzip or not',
      format: 'uri',
      default: 'https://epss.empiricalsecurity.com/epss_scores-current.csv.gz',
    }),
    api_url: Type.String({
      title: 'API address',
      description: 'The part before /epss. Used in the mode "API" alone',
      format: 'uri',
      default: 'https://api.first.org/data/v1',
    }),
  }),
  credentials: Type.Object({}),
  baseUrl: ({ config }) => (config.mode === 'csv' ? new URL(config.csv_url).origin : config.api_url),
  authorize: () => ({}),
  check: ({ http, config }) => (config.mode === 'csv' ? checkFile(http, config.csv_url) : checkApi(http)),
  knowledge: (context) => (context.config.mode === 'csv' ? scoresByFile(context, context.config.csv_url) : scoresByApi(context)),
});
