import { type Bytes, equalBytes, fromUtf8, toHex, utf8 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { sha256Hex } from '../bytes/sha256.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { anyText, choice, constant, name, nullable, type Of, object, one, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { STATEMENT_TYPE } from '../signing/statement.ts';
import { emptyRoot } from './merkle.ts';

const EPOCH_TYPE = 'https://rrs.example/log-epoch/v1';
const SUCCESSION_TYPE = 'https://rrs.example/key-succession/v1';

interface KnownTree {
  size: number;
  /** In hexadecimal. */
  root: string;
}

/** The first entry of each log: why this tree exists, and what is known about the tree before it. */
export interface LogEpoch {
  organization_id: string;
  epoch: number;
  origin: string;
  previous: {
    epoch: number;
    origin: string;
    /** The tree in the database when the epoch started. */
    kept: KnownTree;
    /** The largest tree that is known to have existed. */
    highest_known: { size: number; root: string | null; source: 'database' | 'mark' | 'witness' };
  } | null;
  /** Number of entries that existed and were not kept. Null if it is not known. */
  lost: number | null;
  reason: (typeof EPOCH_REASONS)[number];
  backup: { created_at: string; sha256: string } | null;
  at: string;
}

const EPOCH_REASONS = ['created', 'restore', 'mark_lost', 'rewound'] as const;

const epochSchema: Of<LogEpoch> = object<LogEpoch>({
  organization_id: uuid,
  epoch: whole(1),
  origin: name,
  previous: nullable(
    object<NonNullable<LogEpoch['previous']>>({
      epoch: whole(1),
      origin: name,
      kept: object<KnownTree>({ size: whole(0), root: sha256Text }),
      highest_known: object<NonNullable<LogEpoch['previous']>['highest_known']>({
        size: whole(0),
        root: nullable(sha256Text),
        source: choice(['database', 'mark', 'witness']),
      }),
    }),
  ),
  lost: nullable(whole(0)),
  reason: choice(EPOCH_REASONS),
  backup: nullable(object<NonNullable<LogEpoch['backup']>>({ created_at: anyText, sha256: sha256Text })),
  at: time,
});

/** The subject is the tree before the epoch, which is empty for the first epoch. */
export function epochStatement(epoch: LogEpoch): Bytes {
  const { previous } = epoch;
  return statementOf(EPOCH_TYPE, { name: previous?.origin ?? epoch.origin, sha256: previous?.kept.root ?? toHex(emptyRoot) }, epoch);
}

export function parseEpochStatement(bytes: Uint8Array): LogEpoch {
  const epoch = statementIn<LogEpoch>(bytes, EPOCH_TYPE, epochSchema).predicate;
  assertFormat(equalBytes(epochStatement(epoch), bytes), 'the statement about the log is not in its exact form');
  const isFirst = epoch.previous === null;
  assertFormat(isFirst === (epoch.reason === 'created') && isFirst === (epoch.epoch === 1), 'the statement about the log contradicts itself');
  return epoch;
}

/** Public keys in PEM. */
export interface KeySet {
  package: string;
  log: string;
  note: string;
}

/** The old keys name the keys that replace them. */
export interface KeySuccession {
  old: KeySet;
  new: KeySet;
  effective_at: string;
  reason: 'scheduled' | 'compromise';
}

const keySet = object<KeySet>({ package: name, log: name, note: name });
const successionSchema: Of<KeySuccession> = object<KeySuccession>({
  old: keySet,
  new: keySet,
  effective_at: time,
  reason: choice(['scheduled', 'compromise']),
});

export function successionStatement(succession: KeySuccession): Bytes {
  return statementOf(SUCCESSION_TYPE, { name: 'package.pem', sha256: sha256Hex(utf8(succession.new.package)) }, succession);
}

export function parseSuccessionStatement(bytes: Uint8Array): KeySuccession {
  const succession = statementIn<KeySuccession>(bytes, SUCCESSION_TYPE, successionSchema).predicate;
  assertFormat(equalBytes(successionStatement(succession), bytes), 'the statement about the keys is not in its exact form');
  return succession;
}

export function statementOf(predicateType: string, subject: { name: string; sha256: string }, predicate: unknown): Bytes {
  const { name: subjectName, sha256 } = subject;
  return utf8(canonicalJson({ _type: STATEMENT_TYPE, subject: [{ name: subjectName, digest: { sha256 } }], predicateType, predicate }));
}

interface LogStatement<T> {
  _type: typeof STATEMENT_TYPE;
  subject: [{ name: string; digest: { sha256: string } }];
  predicateType: string;
  predicate: T;
}

/** Checks only the form of the statement. */
export function statementIn<T>(bytes: Uint8Array, predicateType: string, predicate: Of<T>): LogStatement<T> {
  const schema = object<LogStatement<T>>({
    _type: constant(STATEMENT_TYPE),
    subject: one(object<LogStatement<T>['subject'][0]>({ name, digest: object({ sha256: sha256Text }) })),
    predicateType: constant(predicateType),
    predicate,
  });
  const value = parseStrictJson(fromUtf8(bytes));
  const [fault] = validate(schema, value);
  assertFormat(fault === undefined, `the statement${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  return value as LogStatement<T>;
}
