import type { Evidence } from '../../../../document/evidence.ts';
import { artifactState, personWords } from '../../words/labels.ts';
import { fileSize, humanize, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { line, optionalLine, type Section, table } from '../model.ts';
import type { Names } from '../names.ts';

export function artifactsSection({ artifacts }: Evidence, names: Names): Section {
  const { shown, more } = first(artifacts, MOST.artifacts, 'data/evidence.json');
  return {
    id: 'artifacts',
    heading: 'Artifacts of the change',
    blocks: [
      ...table(
        'Artifacts',
        { Artifact: 38, 'Added (UTC)': 22, 'Content and SHA-256': 40 },
        {
          empty: 'No artifacts are attached.',
          rows: shown.map((artifact) => {
            const { id, title, type, url, filename, added_at, added_by, occurred_at, size, sha256, captured, removed, superseded_by } = artifact;
            const state = artifactState(artifact);
            return [
              [
                line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong'),
                line(humanize(type)),
                ...optionalLine(filename !== null && clipped(filename, LENGTH.name), 'quiet'),
                ...optionalLine(url !== null && clipped(url, LENGTH.title), 'quiet'),
              ],
              [
                line(second(added_at)),
                line(clipped(personWords(added_by), LENGTH.name), 'quiet'),
                ...optionalLine(occurred_at && `Occurred ${second(occurred_at)}`, 'quiet'),
              ],
              [
                line(state.label, state.tone),
                ...optionalLine(captured && 'Fetched by the service', 'quiet'),
                ...optionalLine(removed && clipped(`${second(removed.at)} by ${personWords(removed.by)}: ${removed.reason}`, LENGTH.text)),
                ...optionalLine(superseded_by !== null && `Superseded by ${names.of(superseded_by) ?? superseded_by}`, 'warn'),
                ...optionalLine(size !== null && fileSize(size), 'quiet'),
                ...optionalLine(sha256, 'mono'),
              ],
            ];
          }),
        },
      ),
      ...more,
    ],
  };
}
