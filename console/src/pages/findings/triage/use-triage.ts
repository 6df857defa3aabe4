import { type Finding, type FindingTransition, type ListedFinding, RrsError } from '@rrs/client';
import { useState } from 'react';
import { queries, readOf } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { type Handlers, useCommands } from '../../../keys/keys.ts';
import { messageOf } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import { term } from '../../../parts/words.ts';
import { changeOne, undo } from './apply.ts';
import { isExtended, type Target, type Verb, type VerbName, verbs } from './verbs.ts';

export interface Asked {
  verb: Verb;
  target: Target;
  /** What the service allows for a single finding, and why not. */
  transitions?: readonly FindingTransition[];
}

/** Gives the keys of triage their meaning. `target` says what they act on at that moment. */
export function useTriage(target: () => Target | null): { asked: Asked | null; ask: (name: VerbName) => void; close: () => void } {
  const [asked, setAsked] = useState<Asked | null>(null);
  const mayTriage = useMay('findings:triage');
  const mayPlan = useMay('work_items:manage');
  const ask = (name: VerbName) => {
    const chosen = target();
    if (chosen === null) return announce('Choose a finding first, with j and k.');
    void start(verbs[name], chosen, setAsked).catch((error: unknown) => announce(messageOf(error), { isBad: true }));
  };
  const handlers = (Object.keys(verbs) as VerbName[]).map((name) => [verbs[name].command, () => ask(name)]);
  const allowed = handlers.filter(([command]) => (command === 'work-item' ? mayPlan : mayTriage));
  useCommands({ ...(Object.fromEntries(allowed) as Handlers), ...(mayTriage ? { undo: () => void undo() } : {}) });
  return { asked, ask, close: () => setAsked(null) };
}

/** Does what needs no question, and asks for the rest. For one finding, the service says what is possible. */
async function start(verb: Verb, target: Target, ask: (asked: Asked) => void): Promise<void> {
  const one = 'findings' in target && target.findings.length === 1 ? target.findings[0] : undefined;
  if (one === undefined || (verb.status === undefined && verb.asks !== 'status')) return ask({ verb, target });
  const { transitions } = await possible(one);
  if (verb.status === undefined) return ask({ verb, target, transitions });
  if (isExtended(verb, one.status)) return ask({ verb, target, transitions });
  const transition = transitions.find(({ to }) => to === verb.status);
  if (transition === undefined || transition.refused !== null) {
    announce(transition?.refused ?? `A finding that is ${term(one.status).toLowerCase()} cannot become ${term(verb.status).toLowerCase()}.`);
    return ask({ verb: verbs.status, target, transitions });
  }
  if (verb.asks !== undefined) return ask({ verb, target, transitions });
  try {
    await changeOne(one, { status: verb.status });
  } catch (error) {
    if (!(error instanceof RrsError && error.status === 409)) throw error;
    announce(messageOf(error), { isBad: true });
    ask({ verb: verbs.status, target, transitions: (await possible(one, 0)).transitions });
  }
}

/** The finding with what is possible. Usually it was read ahead. */
const possible = ({ id }: ListedFinding, staleTime = 5000): Promise<Finding> => queries.fetchQuery({ ...readOf('getFinding', { path: { id } }), staleTime });
