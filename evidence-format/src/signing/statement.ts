import { type Bytes, fromUtf8, utf8 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { CONCLUSIONS, type Conclusion, type EvidenceDocument, GRADES, type Grade } from '../document/evidence.ts';
import type { EarlierPackage } from '../document/scope.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { choice, constant, list, nullable, type Of, object, sha256Text, text, time, uuid, whole } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://rrs.example/remediation-evidence/v2';

/** Files that the statement covers, in this order. The report is optional. */
export const SUBJECTS = ['tagmanifest-sha256.txt', 'manifest-sha256.txt', 'data/evidence.json', 'data/report.pdf'] as const;
type RequiredSubject = Exclude<(typeof SUBJECTS)[number], 'data/report.pdf'>;
/** SHA-256 in lower-case hexadecimal. */
export type SubjectHashes = Record<RequiredSubject, string> & { 'data/report.pdf'?: string };

export interface Predicate {
  package_id: string;
  organization_id: string;
  work_item_id: string;
  /** Origin and epoch of the log in which the package is recorded. Organizations share keys, so the signature alone does not say whose it is. */
  origin: string;
  epoch: number;
  sequence: number;
  generated_at: string;
  conclusion: Conclusion;
  completeness: Grade;
  supersedes: string | null;
}

/** in-toto Statement v1. */
export interface Statement {
  _type: typeof STATEMENT_TYPE;
  subject: { name: string; digest: { sha256: string } }[];
  predicateType: typeof PREDICATE_TYPE;
  predicate: Predicate;
}

type PredicateSource = Pick<
  EvidenceDocument,
  'package_id' | 'organization' | 'work_item' | 'log' | 'sequence' | 'generated_at' | 'conclusion' | 'completeness' | 'earlier'
>;

export function predicateOf(evidence: PredicateSource): Predicate {
  return {
    package_id: evidence.package_id,
    organization_id: evidence.organization.id,
    work_item_id: evidence.work_item.id,
    origin: evidence.log.origin,
    epoch: evidence.log.epoch,
    sequence: evidence.sequence,
    generated_at: evidence.generated_at,
    conclusion: evidence.conclusion,
    completeness: evidence.completeness.grade,
    supersedes: supersededPackage(evidence)?.package_id ?? null,
  };
}

/** The earlier package that this one replaces: the last that was published. */
export function supersededPackage({ earlier }: Pick<EvidenceDocument, 'earlier'>): EarlierPackage | null {
  return earlier.findLast(({ outcome }) => outcome === 'ready' || outcome === 'superseded') ?? null;
}

export function statementBytes(hashes: SubjectHashes, predicate: Predicate): Bytes {
  const subject = SUBJECTS.flatMap((name) => {
    const sha256 = hashes[name];
    return sha256 === undefined ? [] : [{ name, digest: { sha256 } }];
  });
  const statement: Statement = { _type: STATEMENT_TYPE, subject, predicateType: PREDICATE_TYPE, predicate };
  return utf8(canonicalJson(statement));
}

const statementSchema: Of<Statement> = object<Statement>({
  _type: constant(STATEMENT_TYPE),
  subject: list(object<Statement['subject'][number]>({ name: text(/^[A-Za-z0-9./-]+$/), digest: object({ sha256: sha256Text }) })),
  predicateType: constant(PREDICATE_TYPE),
  predicate: object<Predicate>({
    package_id: uuid,
    organization_id: uuid,
    work_item_id: uuid,
    origin: text(/^[^\s+]+$/),
    epoch: whole(1),
    sequence: whole(1),
    generated_at: time,
    conclusion: choice(CONCLUSIONS),
    completeness: choice(GRADES),
    supersedes: nullable(uuid),
  }),
});

/** Checks only the form. The caller must compare the subjects and the predicate with the package. */
export function parseStatement(bytes: Uint8Array): Statement {
  const text = fromUtf8(bytes);
  const value = parseStrictJson(text);
  const [fault] = validate(statementSchema, value);
  assertFormat(fault === undefined, `the statement${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  assertFormat(canonicalJson(value) === text, 'the statement is not in canonical form');
  return value as Statement;
}
