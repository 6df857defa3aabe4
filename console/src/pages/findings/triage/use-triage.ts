import type { ListedFinding } from '@rrs/client';
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { type Handlers, useCommands } from '../../keys/keys.ts';
import { messageOf } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { changeOne, undo } from './apply.ts';
import { type Target, type Verb, type VerbName, verbs } from './verbs.ts';

export interface Asked {
  verb: Verb;
  target: Target;
}

/** Gives the keys of triage their meaning. `target` says what they act on at that moment. */
export function useTriage(target: () => Target | null): { asked: Asked | null; ask: (name: VerbName) => void; close: () => void } {
  const [asked, setAsked] = useState<Asked | null>(null);
  const mayTriage = useMay('findings:triage');
  const mayPlan = useMay('work_items:manage');
  const ask = (name: VerbName) => {
    const verb: Verb = verbs[name];
    const chosen = target();
    if (chosen === null) return announce('Choose a finding first, with j and k.');
    const one = 'findings' in chosen && chosen.findings.length === 1 ? chosen.findings[0] : undefined;
    if (one && verb.from && !verb.from.includes(one.status))
      return announce(`A finding that is ${words(one)} cannot become ${verb.label.toLowerCase()}. Press s for what is possible.`);
    if (one && verb.asks === undefined && verb.status)
      return void changeOne(one, { status: verb.status }).catch((error: unknown) => announce(messageOf(error), { isBad: true }));
    setAsked({ verb, target: chosen });
  };
  const handlers = (Object.keys(verbs) as VerbName[]).map((name) => [verbs[name].command, () => ask(name)]);
  const allowed = handlers.filter(([command]) => (command === 'work-item' ? mayPlan : mayTriage));
  useCommands({ ...(Object.fromEntries(allowed) as Handlers), ...(mayTriage ? { undo: () => void undo() } : {}) });
  return { asked, ask, close: () => setAsked(null) };
}

const words = ({ status }: ListedFinding): string => status.replaceAll('_', ' ');
