import type { Delivery, PipelineRun, Scan } from '../document/scan.ts';
import { anyText, choice, field, flag, list, nullable, object, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { file, person } from './parts.ts';

const text = (description: string) => field(`${description}, or null.`, nullable(anyText));
const pipelineRun = object<PipelineRun>({
  proof: field('`recorded`: the service checked the token and kept what it said, not the token.', choice(['recorded'])),
  issuer: field('Issuer of the token.', anyText),
  subject: field('Subject of the token.', anyText),
  repository: text('Repository or project'),
  repository_id: text('ID of the repository or project'),
  ref: text('Branch or tag'),
  ref_protected: field('Whether the issuer says that nobody can change the ref without review.', flag),
  sha: text('Commit'),
  environment: text('Environment of the deployment'),
  workflow: text('Definition of the pipeline'),
  run_id: text('ID of the run'),
  issued_at: field('When the token was issued.', time),
  token_sha256: field('SHA-256 of the ID of the token, in hexadecimal, or null.', nullable(sha256Text)),
});

const delivery = object<Delivery>({
  method: field('How the report arrived.', choice(['upload', 'connection', 'pipeline'])),
  by: field('Who or what delivered the report.', person),
  connection: field(
    'The connection that fetched the report, or the trust in the pipeline that sent it from a protected ref, or null.',
    nullable(
      object<NonNullable<Delivery['connection']>>({
        id: field('ID of the connection.', uuid),
        name: field('Name of the connection.', anyText),
        provider: field('Vendor.', anyText),
        host: field('Host that the connection reads from, or null.', nullable(anyText)),
        settings_sha256: field('SHA-256 of the settings, without secrets, in hexadecimal.', sha256Text),
        created_by: field('Who created the connection.', person),
        changed_by: field('Who changed its settings last, before the scan.', person),
        changed_at: field('When its settings were changed last, before the scan.', time),
      }),
    ),
  ),
  pipeline: field('What the token of the pipeline that sent the report said. Null for other methods.', nullable(pipelineRun)),
});

export const scan = object<Scan>({
  id: field('ID of the scan.', uuid),
  phase: field(
    '`before`: showed a finding. `after`: no longer showed one. `other`: covers an asset of the findings and confirms nothing.',
    choice(['before', 'after', 'other']),
  ),
  status: field('Outcome of the import.', choice(['succeeded', 'failed', 'discarded', 'needs_confirmation'])),
  tool: field('Scanner.', anyText),
  tool_version: field('Version of the scanner, or null.', nullable(anyText)),
  knowledge_at: field('Date of the newest plugins or database of the scanner, or null.', nullable(time)),
  credentialed: field('Whether the scan signed in to its targets. Null if the report does not say.', nullable(flag)),
  started_at: field('Start of the scan as the report states it, or null.', nullable(time)),
  ended_at: field('End of the scan as the report states it, or null.', nullable(time)),
  received_at: field('When the service received the report.', time),
  imported_at: field('When the service finished importing the report, or null.', nullable(time)),
  format: field('Report format.', anyText),
  filename: field('Original file name of the report, or null.', nullable(anyText)),
  targets: field('What the report says it scanned, at most 20.', list(anyText)),
  vantage: field('From where the scan looked at its targets, as its sender states, or null.', nullable(choice(['internal', 'external']))),
  version: field('Version that was scanned, or null.', nullable(anyText)),
  track: field('Branch, environment or release line that was scanned, or null.', nullable(anyText)),
  complete: field('Whether the scan covered its whole scope and no record was rejected.', flag),
  doubts: field('Codes of what the scan does not state or does not cover.', list(anyText)),
  records: field('Number of records in the report. Of a scan that failed, those that were read before the failure.', whole(0)),
  rejected: field('Number of records that could not be read.', whole(0)),
  names: field("IDs of the findings' vulnerabilities that the file of a scan that failed names. Empty for other scans.", list(anyText)),
  self_described: field('Whether the file itself names neither an asset nor a tool nor a time.', flag),
  copy_of: field('ID of an earlier scan with the same content apart from times, or null.', nullable(uuid)),
  delivery: field('How the report reached the service.', delivery),
  confirmed: field(
    'Confirmation of a scan that the brake held back, or null.',
    nullable(object<NonNullable<Scan['confirmed']>>({ by: field('Who confirmed the scan.', person), at: field('When it was confirmed.', time) })),
  ),
  sha256: field('SHA-256 of the report in hexadecimal.', sha256Text),
  size: field('Size of the report in bytes.', whole(0)),
  original: field('`bytes`: the report as received. `records`: what the service read from the vendor.', choice(['bytes', 'records'])),
  file: field('Path of the report in the package. Null if it is no longer stored.', nullable(file)),
});
