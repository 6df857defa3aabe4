import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Facts, pemFromSpki, sha256Hex } from '@rrs/evidence-format';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TAKEN_ON_TRUST } from '../taken-on-trust.ts';
import { buildPackage, c2spNote, keyListOf, ORIGIN, testKeys, zipOf } from '../testing/build.ts';
import { IDS } from '../testing/sample.ts';
import { CURRENT, statusOf } from '../testing/status.ts';
import { main } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'rrs-verify-'));
const file = (name: string) => join(folder, name);
const keys = await testKeys();
const other = await testKeys('other');

beforeAll(async () => {
  const name = ({ work_item }: Facts) => {
    work_item.title = 'Update \u001b[2JOpenSSL \u202e';
  };
  const built = await buildPackage({ facts: name });
  const zip = await zipOf(built);
  writeFileSync(file('package.zip'), zip);
  writeFileSync(file('broken.zip'), Buffer.from(zip).fill(0, 40, 41));
  mkdirSync(file('keys'));
  writeFileSync(file('keys/package.pem'), pemFromSpki(keys.package.spki));
  writeFileSync(file('keys/log.pem'), pemFromSpki(keys.log.spki));
  writeFileSync(file('keys/note.pem'), pemFromSpki(keys.note.spki));
  writeFileSync(file('other.pem'), pemFromSpki(other.package.spki));
  writeFileSync(file('vkey'), built.trust.noteKeys[0] ?? '');
  const list = keyListOf(keys);
  const [first, ...others] = list.keys;
  writeFileSync(file('keys.json'), JSON.stringify(list));
  const invalid = {
    'keys-v1.json': { keys: list.keys },
    'keys-v3.json': { ...list, version: 3 },
    'keys-extra.json': { ...list, keys: [{ ...first, revoked: true }, ...others] },
    'keys-number.json': { ...list, keys: [{ ...first, valid_to: 1 }, ...others] },
    'keys-id.json': { ...list, keys: [{ ...first, key_id: others[0]?.key_id }, ...others] },
    'keys-jwk.json': { ...list, keys: [{ ...first, jwk: others[0]?.jwk }, ...others] },
    'keys-use.json': { ...list, keys: [{ ...first, use: 'note' }, ...others] },
  };
  for (const [name, content] of Object.entries(invalid)) writeFileSync(file(name), JSON.stringify(content));
  writeFileSync(file('foreign'), await c2spNote(other.note, { origin: ORIGIN, size: 9, root: new Uint8Array(32) }));
  const third = await buildPackage({
    index: 7,
    facts: (facts) => {
      name(facts);
      const tagmanifest_sha256 = sha256Hex(built.files.get('tagmanifest-sha256.txt') ?? new Uint8Array());
      facts.earlier.push({ package_id: IDS.package, sequence: 2, outcome: 'ready', tagmanifest_sha256, log: { epoch: 1, index: 6 } });
      Object.assign(facts, { package_id: IDS.approval, sequence: 3 });
    },
  });
  writeFileSync(file('third.zip'), await zipOf(third));
  writeFileSync(file('plain.zip'), await zipOf(await buildPackage()));
  writeFileSync(file('keys-retired.json'), JSON.stringify({ ...list, keys: [{ ...first, valid_to: '2026-03-05T12:00:00.000Z' }, ...others] }));
  const statuses = {
    'superseded.json': await statusOf(),
    'current.json': await statusOf(CURRENT),
    'other-content.json': await statusOf({}, { content: '0'.repeat(64) }),
    'other-package.json': await statusOf({ package_id: IDS.previous }),
    'other-key.json': await statusOf({}, { keys: other }),
    'changed.json': (await statusOf()).replace(/"payload":"[^"]+"/, `"payload":"${JSON.parse(await statusOf(CURRENT)).payload}"`),
  };
  for (const [name, content] of Object.entries(statuses)) writeFileSync(file(name), content);
  const rewritten = await buildPackage({
    index: 7,
    facts: (facts, events) => {
      facts.earlier.push({ package_id: IDS.package, sequence: 2, outcome: 'ready', tagmanifest_sha256: '0'.repeat(64), log: { epoch: 1, index: 6 } });
      Object.assign(facts, { package_id: IDS.approval, sequence: 3 });
      events.splice(1, 1);
    },
  });
  writeFileSync(file('rewritten.zip'), await zipOf(rewritten));
  const unknown = await buildPackage({ evidenceText: (text) => text.replace('"renderer":2', '"renderer":3') });
  writeFileSync(file('renderer.zip'), await zipOf(unknown));
  writeFileSync(file('newer'), await c2spNote(keys.note, { origin: ORIGIN, size: 9, root: new Uint8Array(32) }));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await main(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    color: false,
  });
  return { code, out, err };
}

test('a verified package exits with 0 and prints the verdict, then the conclusion', async () => {
  const { code, out, err } = await run(file('package.zip'), '--keys', file('keys'));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(
    /^VERIFIED {2}\S+package\.zip\n.+\n.+\n.+\n\nConclusion {4}remediated: 2 of 2 findings are verified as fixed\.\nCompleteness {2}grade B, 1 gap:\n/,
  );
  expect(out).toContain('Replaces      number 1');
});

test('accepts the published list of keys and single keys', async () => {
  const single = ['--key', file('keys/package.pem'), '--log-key', file('keys/log.pem')];
  expect((await run(file('package.zip'), '--keys', file('keys.json'))).code).toBe(0);
  expect((await run(file('package.zip'), ...single, '--note-key', file('keys/note.pem'))).code).toBe(0);
  expect((await run(file('package.zip'), ...single, '--note-key', file('vkey'))).code).toBe(0);
});

test('without keys it exits with 3 and prints which options to use', async () => {
  const { code, out } = await run(file('package.zip'));
  expect(code).toBe(3);
  expect(out).toMatch(/^CONSISTENT, BUT NOT PROVEN/);
  expect(out).toMatch(/not proven +signature +valid for the key SHA256:\S+, but you specified no trusted package key \(use --key or --keys\)/);
});

test('an untrusted key exits with 1 and prints the expected and the actual key', async () => {
  const { code, out } = await run(file('package.zip'), '--keys', file('keys'), '--key', file('other.pem'));
  expect(code).toBe(0);
  const alone = await run(file('package.zip'), '--key', file('other.pem'));
  expect(alone.code).toBe(1);
  expect(alone.out).toMatch(/untrusted_key {2}proof\/package\.sigstore\.json\n.+\n.+\n {6}expected SHA256:\S+\n {6}found {4}SHA256:/);
  expect(out).not.toContain('untrusted_key');
});

test('a broken package exits with 1, and --json prints the failures', async () => {
  expect((await run(file('broken.zip'), '--keys', file('keys'))).code).toBe(1);
  const { code, out } = await run(file('broken.zip'), '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ verdict: 'failed', failures: [{ code: 'entry_mismatch' }] });
});

test('text from the package cannot contain control characters', async () => {
  const { out } = await run(file('package.zip'));
  expect(out).toContain('Update \ufffd[2JOpenSSL \ufffd');
  expect(out).not.toContain('\u001b');
  expect(out).not.toContain('\u202e');
});

test('a checkpoint that cannot be compared exits with 3 and prints the request that returns the proof', async () => {
  const { code, out } = await run(file('package.zip'), '--keys', file('keys'), '--checkpoint', file('newer'));
  expect(code).toBe(3);
  expect(out).toContain('Save the answer to GET /api/v1/riskops-evidence/log/proof/consistency?epoch=1&from=7&to=9 and give it as --consistency.');
  expect(out).toContain('the log has 2 more entries. One of them may be a package that replaces this one.');
});

test('the answer names the organization and the log first, and compares them if asked', async () => {
  const { out } = await run(file('package.zip'), '--keys', file('keys'));
  expect(out.split('\n')[1]).toBe(`Belongs to Acme (organization ${IDS.organization}), log ${ORIGIN}.`);
  expect(out.split('\n')[2]).toContain('use --organization or --origin');
  const asked = (...args: string[]) => run(file('package.zip'), '--keys', file('keys.json'), ...args);
  expect((await asked('--organization', IDS.organization, '--origin', ORIGIN)).code).toBe(0);
  expect((await asked('--origin', 'evidence.example')).out).not.toContain('use --organization');
  expect(await asked('--organization', IDS.artifact)).toMatchObject({ code: 1, out: expect.stringContaining('belongs to another organization') });
  expect((await asked('--origin', 'other.example')).code).toBe(1);
});

test('a package with a valid newer one exits with 4', async () => {
  const { code, out } = await run(file('package.zip'), '--keys', file('keys'), '--newer', file('third.zip'));
  expect({ code, out }).toEqual({ code: 4, out: expect.stringMatching(/^VERIFIED, BUT SUPERSEDED/) });
  expect(out).toContain('superseded by number 3');
  expect((await run(file('broken.zip'), '--keys', file('keys'), '--newer', file('third.zip'))).code).toBe(1);
});

test('a statement that the package is superseded exits with 4, one that it is current with 0', async () => {
  const asked = (status: string, keys = 'keys') => run(file('plain.zip'), '--keys', file(keys), '--status', file(status));
  const superseded = await asked('superseded.json');
  expect({ code: superseded.code, out: superseded.out }).toEqual({ code: 4, out: expect.stringMatching(/^VERIFIED, BUT SUPERSEDED/) });
  expect(superseded.out).toContain(`is superseded since 2026-03-05T00:00:00.000Z by ${IDS.approval}. Package 3 of the same work item replaced it.`);
  const current = await asked('current.json');
  expect({ code: current.code, out: current.out }).toEqual({
    code: 0,
    out: expect.stringContaining('stated at 2026-03-06T00:00:00.000Z that the package is current'),
  });
  expect(await asked('other-content.json')).toMatchObject({ code: 1, out: expect.stringContaining('other content') });
  expect((await run(file('plain.zip'), '--status', file('superseded.json'))).code).toBe(3);
  expect((await asked('superseded.json', 'keys-retired.json')).err).toContain('a key that was not in use at that time');
});

test('every answer lists what is taken on trust', async () => {
  const { out } = await run(file('package.zip'), '--keys', file('keys'), '--json');
  expect(JSON.parse(out).taken_on_trust).toEqual(Object.keys(TAKEN_ON_TRUST));
  const broken = await run(file('broken.zip'), '--keys', file('keys'));
  expect(broken.out).toMatch(/Taken on trust\n {2}- originals_true: .+/);
});

test.for([
  ['no arguments', []],
  ['two packages', ['a', 'b']],
  ['an unknown option', ['package.zip', '--trust-me']],
  ['a package that does not exist', ['none.zip']],
  ['a key that does not exist', ['package.zip', '--key', 'none.pem']],
  ['a key of the wrong kind', ['package.zip', '--key', 'keys/note.pem']],
  ['a file that is not a certificate', ['package.zip', '--tsa-root', 'keys/log.pem']],
  ['a file that is not a list of keys', ['package.zip', '--keys', 'package.zip']],
  ['a checkpoint that is not one', ['package.zip', '--checkpoint', 'vkey']],
  ['a checkpoint that is signed with another key', ['package.zip', '--keys', 'keys', '--checkpoint', 'foreign']],
  ['a consistency proof that is not one', ['package.zip', '--consistency', 'keys.json']],
  ['a folder instead of a package', ['keys']],
  ['a file that is not a checkpoint', ['package.zip', '--checkpoint', 'keys.json']],
  ['a checkpoint by another key', ['package.zip', '--keys', 'keys', '--checkpoint', 'foreign']],
  ['a newer package that is not verified', ['package.zip', '--keys', 'keys', '--newer', 'broken.zip']],
  ['a newer package that is not newer', ['package.zip', '--keys', 'keys', '--newer', 'package.zip']],
  ['a status that is not one', ['plain.zip', '--keys', 'keys', '--status', 'keys.json']],
  ['a status of another package', ['plain.zip', '--keys', 'keys', '--status', 'other-package.json']],
  ['a status by another key', ['plain.zip', '--keys', 'keys', '--status', 'other-key.json']],
  ['a status whose signature is for another statement', ['plain.zip', '--keys', 'keys', '--status', 'changed.json']],
  ['a witness key that is not one', ['plain.zip', '--keys', 'keys', '--witness-key', 'vkey']],
  ['an invalid time limit', ['package.zip', '--time-limit=soon']],
  ['a list of keys without a version', ['package.zip', '--keys', 'keys-v1.json']],
  ['a list of keys in another version', ['package.zip', '--keys', 'keys-v3.json']],
  ['a list of keys with an unknown field', ['package.zip', '--keys', 'keys-extra.json']],
  ['a list of keys with a time that is a number', ['package.zip', '--keys', 'keys-number.json']],
  ['a key ID of another key', ['package.zip', '--keys', 'keys-id.json']],
  ['a JSON Web Key of another key', ['package.zip', '--keys', 'keys-jwk.json']],
  ['a key listed for the wrong use', ['package.zip', '--keys', 'keys-use.json']],
] as const)('exits with 2: %s', async ([, args]) => {
  const { code, out, err } = await run(...args.map((argument) => (argument.startsWith('--') ? argument : file(argument))));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).not.toBe('');
});

test('--deep exits with 2 and prints which program can do it', async () => {
  expect(await run(file('package.zip'), '--deep')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"rrs-server evidence verify"') });
});

test('the program runs on the installed version of Node', async () => {
  const program = fileURLToPath(new URL('../../bin/rrs-verify.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(program, [file('package.zip'), '--keys', file('keys')]);
  expect(stdout).toMatch(/^VERIFIED/);
  await expect(promisify(execFile)(program, [file('package.zip')])).rejects.toMatchObject({ code: 3 });
});

test('an earlier package must still be in the history', async () => {
  const keys = ['--keys', file('keys')];
  const confirmed = await run(file('third.zip'), '--previous', file('package.zip'), ...keys);
  expect(confirmed.out).toContain('All 16 events of package 2 are in this package.');
  expect(confirmed.code).toBe(0);
  const rewritten = await run(file('rewritten.zip'), '--previous', file('package.zip'), ...keys);
  expect(rewritten.code).toBe(1);
  expect(rewritten.out).toContain('history_rewritten');
  for (const previous of ['third.zip', 'broken.zip', 'keys.json']) expect((await run(file('package.zip'), '--previous', file(previous), ...keys)).code).toBe(2);
});

test('readable files of a newer version are not proven', async () => {
  const { code, out } = await run(file('renderer.zip'), '--keys', file('keys'));
  expect({ code, out }).toMatchObject({ code: 3, out: expect.stringContaining('version 3, which this verifier does not know') });
});
