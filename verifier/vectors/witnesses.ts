import { cosignatureLine, cosignatureMessage, ed25519RawFromSpki, noteWith, utf8, witnessKeyId, witnessVkey } from '@rrs/evidence-format';
import type { Files } from '../src/testing/build.ts';
import { ed25519Key } from '../src/testing/signer.ts';
import { edit, failing, sealed, type Vector } from './vector.ts';

const FILE = 'proof/package.tlog-proof';
const signer = await ed25519Key('witness');
const witness = { name: 'witness.example/w1', key: ed25519RawFromSpki(signer.spki) };
/** 2026-03-04T05:06:20Z, soon after the sample package. */
const SEALED = 1_772_600_780;

interface Signing {
  time?: number;
  change?: (text: string) => string;
  times?: number;
}

/** A package whose checkpoint the witness signed. */
function cosigned({ time = SEALED, change = (text) => text, times = 1 }: Signing, witnessKeys: string[] = [witnessVkey(witness)]): Vector['make'] {
  return async () => {
    const lines: string[] = [];
    const add = (files: Files) => edit(files, FILE, (text) => text + lines.join(''));
    // The first build shows what the witness signs. Packages are the same each time.
    await sealed({
      proof: (files) => {
        const note = Buffer.from(files.get(FILE) ?? []).toString();
        lines.push(note.slice(note.indexOf('\n\n') + 2, note.lastIndexOf('\n\n') + 1));
      },
    })();
    const text = lines.pop() ?? '';
    const signature = await signer.sign(cosignatureMessage(change(text), time));
    const line = noteWith(text, [cosignatureLine({ ...witness, keyId: witnessKeyId(witness), time, signature })]).slice(text.length + 1);
    for (let count = 0; count < times; count++) lines.push(line);
    const { zip, trust } = await sealed({ proof: add })();
    return { zip, trust: { ...trust, witnessKeys } };
  };
}

const stranger = witnessVkey({ ...witness, name: 'witness.example/w2' });

export const witnesses: Vector[] = [
  { name: 'good: a witness confirmed the checkpoint', verdict: 'verified', codes: [], make: cosigned({}) },
  { name: 'good: a witness that the caller does not know', verdict: 'verified', codes: [], make: cosigned({}, []) },
  { name: 'good: one of two witnesses confirmed the checkpoint', verdict: 'verified', codes: [], make: cosigned({}, [stranger, witnessVkey(witness)]) },
  { name: 'no signature of the witness that the caller trusts', verdict: 'consistent', codes: [], make: cosigned({}, [stranger]) },
  {
    name: 'a witness is trusted, but none signed',
    verdict: 'consistent',
    codes: [],
    make: sealed({}, (trust) => ({ ...trust, witnessKeys: [witnessVkey(witness)] })),
  },
  failing('a witness that signed another checkpoint', ['cosignature'], cosigned({ change: (text) => text.replace('\n7\n', '\n8\n') })),
  failing('a witness that signed before the package was made', ['cosignature'], cosigned({ time: SEALED - 86_400 })),
  failing('a witness that signed in the future', ['cosignature'], cosigned({ time: 2_000_000_000 })),
  failing('a witness that signed twice', ['checkpoint'], cosigned({ times: 2 })),
  failing(
    'a signature line that is not one of a witness',
    ['checkpoint'],
    sealed({ proof: (files) => edit(files, FILE, (text) => `${text}— witness.example/w1 ${Buffer.from(utf8('short')).toString('base64')}\n`) }),
  ),
];
