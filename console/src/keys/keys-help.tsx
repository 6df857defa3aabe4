import { Kbd, Modal } from '@mantine/core';
import { commands } from './commands.ts';
import { labelOf, useAvailableCommands } from './keys.ts';
import css from './keys-help.module.css';

export function KeysHelp({ onClose }: { onClose: () => void }) {
  const groups = Map.groupBy(useAvailableCommands(), (name) => commands[name].group);
  return (
    <Modal opened onClose={onClose} title="Keys of this page" size="lg">
      <div className={css.groups}>
        {[...groups].map(([group, names]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className={css.keys}>
              {names.map((name) => (
                <div key={name}>
                  <dt>{commands[name].does}</dt>
                  <dd>
                    {commands[name].keys.map((keys) => (
                      <Kbd key={keys}>{labelOf(keys)}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="dim">Single letters can be switched off in Settings, Profile.</p>
    </Modal>
  );
}
