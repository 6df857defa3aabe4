import { Button } from '@mantine/core';
import type { Finding } from '@rrs/client';
import { useMay } from '../../../api/session.ts';
import { commands } from '../../../keys/commands.ts';
import css from './verb-buttons.module.css';
import { isExtended, type Verb, type VerbName, verbs } from './verbs.ts';

/** The verbs as buttons, each with its key. What the service does not allow for the finding is absent, or disabled with the reason. */
export function VerbButtons({ finding, ask }: { finding?: Pick<Finding, 'status' | 'transitions'>; ask: (name: VerbName) => void }) {
  const mayTriage = useMay('findings:triage');
  const mayPlan = useMay('work_items:manage');
  const shown = (Object.keys(verbs) as VerbName[]).flatMap((name) => {
    const verb: Verb = verbs[name];
    if (!(name === 'workItem' ? mayPlan : mayTriage)) return [];
    if (finding === undefined || verb.status === undefined || isExtended(verb, finding.status)) return [{ name, refused: null }];
    const transition = finding.transitions.find(({ to }) => to === verb.status);
    return transition === undefined ? [] : [{ name, refused: transition.refused }];
  });
  return (
    <div className={css.verbs}>
      {shown.map(({ name, refused }) => (
        <Button
          key={name}
          variant="default"
          size="compact-sm"
          {...(refused === null ? {} : { 'aria-disabled': true, 'data-disabled': true, title: refused })}
          onClick={() => ask(name)}
          rightSection={<kbd>{commands[verbs[name].command].keys[0]}</kbd>}
        >
          {verbs[name].label}
        </Button>
      ))}
    </div>
  );
}
