import type { Evidence } from '../../../document/evidence.ts';
import type { Artifact } from '../../../document/originals.ts';
import type { Scan } from '../../../document/scan.ts';
import { line, list, oscalId, props } from './parts.ts';

/** Valid http and https URLs (RFC 3986). Other URLs appear only as a property, because a link could run code. */
const WEB_URL = /^https?:\/\/[\w.-]+(?::\d+)?(?:[/?](?:[\w\-.~:@!$&'()*+,;=/?]|%[\da-fA-F]{2})*)?(?:#(?:[\w\-.~:@!$&'()*+,;=/?]|%[\da-fA-F]{2})*)?$/;

/** Scan reports and artifacts, with paths relative to data/formats/. */
export function resources({ scans, artifacts }: Evidence) {
  return [...scans.map(scanResource), ...artifacts.map(artifactResource)];
}

const phases: Readonly<Record<Scan['phase'], string>> = { before: 'before the fix', after: 'after the fix', other: 'that neither shows nor refutes a finding' };

function scanResource(scan: Scan) {
  return {
    uuid: oscalId('scan', scan.id),
    title: line(`Scan report from ${scan.tool}`),
    description: scan.file === null ? 'The report is not in the package.' : `The report as received, from a scan ${phases[scan.phase]}.`,
    props: props({
      'scan-id': scan.id,
      'tool-version': scan.tool_version,
      filename: scan.filename,
      'started-at': scan.started_at,
      'ended-at': scan.ended_at,
      'received-at': scan.received_at,
      'delivered-by': scan.delivery.by.name,
    }),
    ...list('rlinks', links(scan.file, scan.sha256, null)),
  };
}

function artifactResource(artifact: Artifact) {
  return {
    uuid: oscalId('artifact', artifact.id),
    title: line(artifact.title),
    description: artifactDescription(artifact),
    props: props({
      'artifact-id': artifact.id,
      'artifact-type': artifact.type,
      filename: artifact.filename,
      url: artifact.url,
      'added-at': artifact.added_at,
    }),
    ...list('rlinks', links(artifact.file, artifact.sha256, artifact.url)),
  };
}

function artifactDescription({ removed, file, description }: Artifact): string {
  if (removed !== null) return `Removed: ${line(removed.reason)}`;
  return file === null ? 'A link whose content was not captured.' : (description ?? 'The content as received.');
}

function links(file: string | null, sha256: string | null, url: string | null) {
  const hashes = sha256 === null ? {} : { hashes: [{ algorithm: 'SHA-256', value: sha256 }] };
  if (file !== null) return [{ href: file.replace(/^data\//, '../'), ...hashes }];
  return url !== null && WEB_URL.test(url) ? [{ href: url }] : [];
}
