import { Button } from '@mantine/core';
import type { FindingStatus } from '@rrs/client';
import { useMay } from '../../api/session.ts';
import { commands } from '../../keys/commands.ts';
import css from './verb-buttons.module.css';
import { type Verb, type VerbName, verbs } from './verbs.ts';

/** The verbs as buttons, each with its key. Those that the status rules out are absent. */
export function VerbButtons({ status, ask }: { status?: FindingStatus; ask: (name: VerbName) => void }) {
  const mayTriage = useMay('findings:triage');
  const mayPlan = useMay('work_items:manage');
  const possible = (Object.keys(verbs) as VerbName[]).filter((name) => {
    const verb: Verb = verbs[name];
    if (!(name === 'workItem' ? mayPlan : mayTriage)) return false;
    return status === undefined || verb.from === undefined || verb.from.includes(status);
  });
  return (
    <div className={css.verbs}>
      {possible.map((name) => (
        <Button key={name} variant="default" size="compact-sm" onClick={() => ask(name)} rightSection={<kbd>{commands[verbs[name].command].keys[0]}</kbd>}>
          {verbs[name].label}
        </Button>
      ))}
    </div>
  );
}
