import { type Check, lineAt } from './sources.ts';

/** Phrases that every reader stumbles over, with what to write instead. The list is short on purpose: it catches relapses, not bad style in general. */
const patterns: readonly [RegExp, string][] = [
  [/\banew\b/gi, '"again"'],
  [/\bat the (?:most|least)\b/gi, '"at most" or "at least"'],
  [/\bthis once\b/gi, 'what happens only once'],
  [/\bis answered with\b/gi, '"returns"'],
  [/\bcounts from\b/gi, '"takes effect"'],
  [/\bis told (?:of|about|to)\b|\btold of\b|\bhears? of\b/gi, 'who is notified of what'],
  [/\bwho (?:has|asks|wants|adds|reads|changes) (?:it|one|them)\b/gi, 'a subject: "a caller that …", "the person who …"'],
  [/\bmade a mistake\b/gi, '"Internal error."'],
  [/\bnothing to say\b/gi, '"No content"'],
  [/\bof which only\b|\bof the \w+ only (?:how|what|the)\b/gi, 'a full sentence'],
  [/\b(?:courier|takeTurn|inTurn|letAllGo|askLessOften|KnownNoMore|patiently|hearOf\w+)\b/g, 'the term of docs/glossary.md'],
];

const CHECKED =
  /^(?:service|scan-reports|connectors|evidence-format|verifier|acceptance|bench|checks|scripts|client|cli|console)\/.*\.(?:tsx?|sql|mjs|json)$|\.md$/;
/** The glossary names the words it replaces. Report fixtures and expected scanner output are other people's words. */
const EXEMPT = /^docs\/glossary\.md$|^checks\/|\/fixtures\/|package(?:-lock)?\.json$|^CHANGELOG\.md$|\/corpus\.ts$|\/fake[\w-]*\.ts$/;

export const language: Check = (sources) =>
  sources
    .filter(({ path }) => CHECKED.test(path) && !EXEMPT.test(path))
    .flatMap(({ path, text }) =>
      patterns.flatMap(([pattern, instead]) =>
        [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ path, line: lineAt(text, index), message: `"${found}": write ${instead}` })),
      ),
    );
