import { XIcon } from '@primer/octicons-react';
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from 'react';
import { useApi } from '../api/client.ts';
import { useCommands } from '../keys/keys.ts';
import css from './filter-bar.module.css';
import { addFilters, chipText, type Filter, parseFilters, quoted, suggest, typedValue } from './filters.ts';
import type { Changes, Query } from './query.ts';
import { useValueNames } from './value-names.ts';

interface FilterBarProps {
  filters: readonly Filter[];
  query: Query;
  onChange: (changes: Changes) => void;
  /** A filter that people of this list use. */
  example: string;
}

/** One field that understands `severity:critical kev:true`, and a chip for each filter. Both are the query of the address. */
export function FilterBar({ filters, query, onChange, example }: FilterBarProps) {
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [problem, setProblem] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useCommands({ filter: () => input.current?.focus() });
  const chosen = filters.filter(({ name }) => query[name] !== undefined);
  const typed = typedValue(useDeferredValue(isOpen ? text : ''), filters);
  const known = useApi('suggestFilterValues', { query: { field: typed?.field ?? 'tag', prefix: typed?.prefix ?? '', limit: 12 } }, { enabled: typed !== null });
  const nameOf = useValueNames([...chosen, typed?.filter]);
  const suggestions = isOpen ? suggest(text, filters, typed === null ? [] : known.data?.data, nameOf) : [];
  const chipOf = (filter: Filter) => chipText(filter, query[filter.name] ?? '', nameOf);

  const apply = (written: string) => {
    const { tokens, unknown } = parseFilters(written, filters);
    setProblem(unknown.length > 0 ? `There is no filter "${unknown.join('", "')}".` : '');
    if (unknown.length > 0) return;
    if (tokens.length > 0) onChange(addFilters(query, tokens, filters));
    setText('');
    setActive(-1);
  };
  const edit = ({ name }: Filter) => {
    const value = query[name] ?? '';
    setText(`${text === '' ? '' : `${text} `}${name === 'q' ? value : `${name}:${quoted(value)}`}`);
    onChange({ [name]: null });
    input.current?.focus();
  };
  const choose = (index: number) => {
    const suggestion = suggestions[index];
    if (suggestion === undefined) return;
    if (suggestion.isComplete) apply(suggestion.text);
    else setText(suggestion.text);
    setActive(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = chosen.at(-1);
    if (event.key === 'ArrowDown' && suggestions.length > 0) setActive((active + 1) % suggestions.length);
    else if (event.key === 'ArrowUp' && suggestions.length > 0) setActive((active - 1 + suggestions.length) % suggestions.length);
    else if ((event.key === 'Enter' || (event.key === 'Tab' && text !== '')) && active >= 0) choose(active);
    else if (event.key === 'Enter') apply(text);
    else if (event.key === 'Backspace' && text === '' && last) edit(last);
    else if (event.key === 'Escape') {
      setOpen(false);
      input.current?.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <div className={css.bar}>
      {chosen.map((filter) => (
        <span key={filter.name} className={css.chip}>
          <button type="button" onClick={() => edit(filter)} title="Edit the filter">
            {chipOf(filter)}
          </button>
          <button type="button" onClick={() => onChange({ [filter.name]: null })} aria-label={`Remove the filter ${chipOf(filter)}`}>
            <XIcon size={12} />
          </button>
        </span>
      ))}
      <div className={css.field}>
        <input
          ref={input}
          value={text}
          placeholder={chosen.length === 0 ? `Filter, such as ${example}${filters.some(({ name }) => name === 'q') ? ', or search' : ''}` : 'Add a filter'}
          aria-label="Filter"
          role="combobox"
          aria-expanded={suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
          autoComplete="off"
          spellCheck={false}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onChange={({ target }) => {
            setText(target.value);
            setOpen(true);
            setActive(-1);
            setProblem('');
          }}
          onKeyDown={onKeyDown}
        />
        {suggestions.length > 0 && (
          <div className={css.list} id={`${id}-list`} role="listbox" aria-label="Filters" tabIndex={-1}>
            {suggestions.map((suggestion, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys.
              <div
                key={suggestion.text}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === active}
                className={css.option}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(index)}
              >
                <span>{suggestion.label}</span>
                <span className="dim">{suggestion.hint}</span>
              </div>
            ))}
          </div>
        )}
      </div>
      {chosen.length > 0 && (
        <button type="button" className={css.clear} onClick={() => onChange(Object.fromEntries(chosen.map(({ name }) => [name, null])))}>
          Clear
        </button>
      )}
      {problem !== '' && (
        <span className="bad" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}
