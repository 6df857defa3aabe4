import type { Evidence } from '../../../../document/evidence.ts';
import type { Person } from '../../../../document/people.ts';
import type { PipelineRun, Scan } from '../../../../document/scan.ts';
import { PHASE_WORDS, personWords, roleWords, SCAN_STATUS_WORDS } from '../../words/labels.ts';
import { count, day, fileSize, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';
import { doubtLines } from './doubts.ts';

export function scansSection(_: Evidence, names: Names): Section {
  const { shown, more } = first(names.scans, MOST.scans, 'data/evidence.json');
  return {
    id: 'scans',
    heading: 'Scans and where they came from',
    blocks: [
      ...(shown.length === 0 ? [] : [words('Times are in UTC. Start, end and targets are what the report states. Unknown values are named as unknown.')]),
      ...table(
        'Scans',
        { Scan: 22, 'Times (UTC)': 28, 'Coverage and doubts': 25, 'Delivery and file': 25 },
        {
          empty: 'No scan reported on the findings of this work item.',
          rows: shown.map((scan) => [scanCell(scan, names), timesCell(scan), coverageCell(scan), deliveryCell(scan, names)]),
        },
      ),
      ...more,
    ],
  };
}

function scanCell({ id, tool, tool_version, phase, status, format, filename, knowledge_at, credentialed, vantage }: Scan, names: Names): Cell {
  const { label, tone } = SCAN_STATUS_WORDS[status];
  const login = credentialed === null ? 'Unknown whether it could log in' : credentialed ? 'With credentials' : 'Without credentials';
  return [
    line(`${names.of(id)} ${clipped(tool, LENGTH.name)} ${tool_version === null ? '' : clipped(tool_version, 30)}`, 'strong'),
    line(PHASE_WORDS[phase]),
    line(label, tone),
    ...optionalLine(tool_version === null && 'Tool version unknown', 'quiet'),
    line(knowledge_at === null ? 'Date of its rules unknown' : `Rules of ${day(knowledge_at)}`, 'quiet'),
    line(login, 'quiet'),
    line(vantage === null ? 'Unknown whether internal or external' : vantage === 'internal' ? 'Internal scan' : 'External scan', 'quiet'),
    line(clipped([format, ...(filename === null ? [] : [filename])].join(', '), LENGTH.name), 'quiet'),
  ];
}

function timesCell({ started_at, ended_at, received_at, imported_at, version, track }: Scan): Cell {
  return [
    line(started_at === null ? 'Start unknown' : `Started ${second(started_at)}`, started_at === null ? 'quiet' : 'plain'),
    line(ended_at === null ? 'End unknown' : `Ended ${second(ended_at)}`, ended_at === null ? 'warn' : 'plain'),
    line(`Received ${second(received_at)}`),
    ...optionalLine(imported_at && `Imported ${second(imported_at)}`, 'quiet'),
    ...optionalLine(version !== null && `Version ${clipped(version, LENGTH.name)}`, 'quiet'),
    ...optionalLine(track !== null && `Track ${clipped(track, LENGTH.name)}`, 'quiet'),
  ];
}

function coverageCell({ status, complete, targets, doubts, records, rejected, names, self_described, copy_of, confirmed }: Scan): Cell {
  return [
    status === 'failed' ? line('Not read', 'bad') : complete ? line('Complete', 'good') : line('Partial', 'warn'),
    line(status === 'failed' ? `${count(records, 'record')} read before the failure` : `${count(records, 'record')}, ${rejected} rejected`),
    ...optionalLine(names.length > 0 && clipped(`Names ${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''}`, LENGTH.title), 'bad'),
    line(
      targets.length === 0 ? 'Names no target' : clipped(`Targets: ${targets.slice(0, 4).join(', ')}${targets.length > 4 ? ' …' : ''}`, LENGTH.title),
      'quiet',
    ),
    ...doubtLines(doubts),
    ...optionalLine(self_described && 'The file does not identify itself', 'bad'),
    ...optionalLine(copy_of !== null && 'Same content as an earlier report', 'bad'),
    ...optionalLine(confirmed !== null && `Held back; confirmed by ${clipped(confirmed.by.name, LENGTH.name)} ${second(confirmed.at)}`, 'warn'),
  ];
}

function deliveryCell({ delivery, file, original, size, sha256 }: Scan, names: Names): Cell {
  const { method, by, connection, pipeline } = delivery;
  const who = (person: Person) => clipped(personWords(person), LENGTH.name);
  const methods = { upload: 'Uploaded by', connection: 'Fetched by', pipeline: 'Sent by the pipeline of' };
  return [
    line(`${methods[method]} ${connection === null ? who(by) : clipped(connection.name, LENGTH.name)}`),
    ...(connection === null
      ? optionalLine(by.kind !== 'system' && by.kind !== 'connection' && roleWords(names.person(by)), 'quiet')
      : [
          line(`${clipped(connection.provider, LENGTH.name)} at ${clipped(connection.host ?? 'an unknown host', LENGTH.name)}`, 'quiet'),
          line(`Set up by ${who(connection.created_by)}, changed ${day(connection.changed_at)} by ${who(connection.changed_by)}`, 'quiet'),
        ]),
    ...(pipeline === null ? [] : pipelineLines(pipeline)),
    file === null
      ? line('Report not in the package', 'warn')
      : line(original === 'bytes' ? 'Report as received' : 'Records as read, not the bytes of the vendor', 'good'),
    line(fileSize(size), 'quiet'),
    line(sha256, 'mono'),
  ];
}

/** What the token said is quoted. A signature of the pipeline over the report would be stronger, and packages carry none. */
function pipelineLines({ repository, subject, ref, ref_protected, sha, workflow, run_id, issuer }: PipelineRun): Cell {
  const named = (name: string, value: string | null) => optionalLine(value !== null && `${name} ${clipped(value, LENGTH.name)}`, 'quiet');
  return [
    line(`Recorded from the token of ${clipped(issuer, LENGTH.name)}, not attested`, 'quiet'),
    ...named('Repository', repository ?? subject),
    ...named(ref_protected ? 'Protected ref' : 'Unprotected ref', ref),
    ...named('Commit', sha),
    ...named('Workflow', workflow),
    ...named('Run', run_id),
  ];
}
