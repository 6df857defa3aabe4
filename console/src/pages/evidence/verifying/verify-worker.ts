import {
  addGivenFile,
  blobSource,
  browserPlatform,
  emptyTrust,
  type OtherPackage,
  requireReadable,
  type Source,
  type Trust,
  verifyWithOthers,
} from '@rrs/verifier';
import type { Answer, Task } from './protocol.ts';
import { type Statements, statementsOf } from './statements.ts';

/** Verifies one package. A thread of its own keeps the page usable, and its policy keeps it from sending anything. */
const TIME_LIMIT_MS = 600_000;

addEventListener('message', ({ data }: MessageEvent<Task>) => {
  void run(data).then(answer, (error: unknown) => answer({ refused: error instanceof Error ? error.message : String(error) }));
});

const answer = (message: Answer): void => postMessage(message);

async function run({ file, files, organization, origin, earlier, newer }: Task): Promise<Answer> {
  const trust: Trust = { ...emptyTrust(), organization: organization || null, origin: origin || null };
  for (const { name, text } of files) addGivenFile(trust, name, text);
  const platform = browserPlatform();
  await requireReadable(trust, platform.subtle);
  let statements: Statements | null = null;
  const options = {
    timeLimit: TIME_LIMIT_MS,
    onDocument: (document: Parameters<typeof statementsOf>[0]) => {
      statements = statementsOf(document);
    },
  };
  const others = { newer: otherOf(newer), previous: otherOf(earlier) };
  const { report, isSuperseded } = await verifyWithOthers(withProgress(blobSource(file)), others, { trust, platform, options });
  if (report.status?.problem) throw new Error(`The status statement cannot be used: ${report.status.problem}.`);
  return { verified: { report, isSuperseded, statements } };
}

const otherOf = (file: File | null | undefined): OtherPackage | undefined => (file ? { name: file.name, source: blobSource(file) } : undefined);

/** The verifier reads a package from its first to its last byte, and then parts of it again. */
function withProgress(source: Source): Source {
  let reported = 0;
  return {
    size: source.size,
    read: (offset, length) => {
      const share = Math.floor(((offset + length) / Math.max(1, source.size)) * 20) / 20;
      if (share > reported && offset + length < source.size) {
        reported = share;
        answer({ share });
      }
      return source.read(offset, length);
    },
  };
}
