import { Kbd, Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useDeferredValue, useId, useState } from 'react';
import { useApi } from '../api/client.ts';
import type { Me } from '../api/session.ts';
import { commands } from '../keys/commands.ts';
import { labelOf, run, useAvailableCommands } from '../keys/keys.ts';
import { term } from '../parts/words.ts';
import css from './palette.module.css';

interface Choice {
  id: string;
  label: string;
  hint: string;
  keys?: string;
  choose: () => void;
}

const NOT_CHOSEN = ['palette', 'close', 'submit', 'next', 'previous', 'open', 'extend-down', 'extend-up'];
/** The API searches words of at least two characters. */
const SEARCHABLE = /[\p{L}\p{N}][._@/:-]*[\p{L}\p{N}]/u;

/** Commands of the page, and a search over everything. */
export function Palette({ me, onClose }: { me: Me; onClose: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const choices = [...useCommandChoices(text), ...useFound(useDeferredValue(text.trim()), me)];
  const chosen = Math.min(active, choices.length - 1);
  const choose = (choice: Choice | undefined) => {
    onClose();
    // After the dialog is gone, so that the command finds the page as it was.
    if (choice) setTimeout(choice.choose);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((chosen + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === 'Enter') choose(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      yOffset="12vh"
      size="lg"
      attributes={{ content: { 'aria-label': 'Search or run a command' } }}
    >
      <input
        className={css.input}
        data-autofocus
        placeholder="Search findings, assets and commands"
        aria-label="Search findings, assets and commands"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={choices.length > 0 ? `${id}-${chosen}` : undefined}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={css.list} id={`${id}-list`} role="listbox" aria-label="Results" tabIndex={-1}>
        {choices.map((choice, index) => (
          <div
            key={choice.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={css.choice}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' });
            }}
            onMouseMove={() => setActive(index)}
            onClick={() => choose(choice)}
            onKeyDown={() => {}}
          >
            <span className="ellipsis">{choice.label}</span>
            <span className="dim nowrap">{choice.hint}</span>
            {choice.keys && <Kbd size="xs">{labelOf(choice.keys)}</Kbd>}
          </div>
        ))}
        {choices.length === 0 && <div className={css.none}>Nothing found.</div>}
      </div>
    </Modal>
  );
}

function useCommandChoices(text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/);
  return useAvailableCommands()
    .filter((name) => !NOT_CHOSEN.includes(name) && words.every((word) => commands[name].does.toLowerCase().includes(word)))
    .map((name) => ({ id: name, label: commands[name].does, hint: commands[name].group, keys: commands[name].keys[0], choose: () => void run(name) }));
}

/** Where each kind of result leads, in the order in which they are shown. */
const kinds = [
  { name: 'findings', to: '/findings/$id' },
  { name: 'work_items', to: '/work/$id' },
  { name: 'assets', to: '/assets/$id' },
  { name: 'packages', to: '/evidence/$id' },
  { name: 'connections', to: '/integrations/$id' },
] as const;

function useFound(text: string, me: Me): Choice[] {
  const navigate = useNavigate();
  const enabled = SEARCHABLE.test(text) && me.permissions.includes('findings:read');
  const { data } = useApi('search', { query: { q: text, limit: 6 } }, { enabled, keep: true });
  if (!enabled || data === undefined) return [];
  return kinds.flatMap(({ name, to }) =>
    data[name].map(({ id, title, hint }) => ({
      id,
      label: title,
      hint: `${term(name).replace(/s$/, '')} · ${term(hint)}`,
      choose: () => void navigate({ to, params: { id } }),
    })),
  );
}
