import { Type } from 'typebox';
import { defineEnrichment } from '../../core/contract.ts';
import { Choice } from '../../core/settings/fields.ts';
import { checkApi, scoresByApi } from './api.ts';
import { checkFile, scoresByFile } from './file.ts';

export const epss = defineEnrichment({
  id: 'epss',
  name: 'FIRST EPSS',
  version: 1,
  description: 'The probability that a CVE is exploited within the next 30 days: a score and a percentile for every CVE, updated daily.',
  documentation: 'https://www.first.org/epss/api',
  permissions: 'no credentials, because the scores are public',
  config: Type.Object({
    mode: Choice(
      { csv: 'Daily file with the scores of all CVEs', api: 'API, only for CVEs that findings have' },
      { title: 'Source', description: 'Where to get the scores. The file takes one request a day and does not disclose which CVEs you have.', default: 'csv' },
    ),
    csv_url: Type.String({
      title: 'File URL',
      description: 'URL of the daily CSV file of FIRST or of a mirror in your network. The file may be compressed with gzip.',
      format: 'uri',
      default: 'https://epss.empiricalsecurity.com/epss_scores-current.csv.gz',
    }),
    api_url: Type.String({
      title: 'API URL',
      'x-group': 'advanced',
      description: 'The part of the URL before /epss. Used only if the source is the API.',
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
