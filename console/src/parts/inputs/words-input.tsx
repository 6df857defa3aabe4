import { Pill, PillsInput, type PillsInputProps } from '@mantine/core';
import { type ClipboardEvent, type KeyboardEvent, useId, useState } from 'react';
import css from './words-input.module.css';

interface WordsInputProps extends Omit<PillsInputProps, 'value' | 'onChange'> {
  value: readonly string[];
  onChange: (words: string[]) => void;
  placeholder?: string;
  name?: string;
  /** Offered while somebody types. Other words are possible too. */
  suggestions?: readonly string[];
  /** The first field of a dialog. */
  isFirst?: boolean;
}

const SEPARATORS = /[,\n\t]/;

/**
 * Several words, each in a pill. Enter or a comma ends a word, and leaving the field does too. Backspace in the empty field takes the last word back.
 * Mantine has such a field, with a list of its own that takes a fifth of the script that a page may load.
 */
export function WordsInput({ value, onChange, placeholder = '', name, suggestions = [], isFirst = false, ...wrapper }: WordsInputProps) {
  const [text, setText] = useState('');
  const id = useId();
  const add = (written: string) => {
    const words = written.split(SEPARATORS).map((word) => word.trim());
    const next = [...new Set([...value, ...words.filter((word) => word !== '')])];
    if (next.length > value.length) onChange(next);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if ((event.key === 'Enter' && text.trim() !== '') || event.key === ',') add(text);
    else if (event.key === 'Backspace' && text === '' && value.length > 0) {
      setText(value.at(-1) ?? '');
      onChange(value.slice(0, -1));
    } else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData('text');
    if (!SEPARATORS.test(pasted)) return;
    event.preventDefault();
    add(`${text}${pasted}`);
  };
  return (
    <PillsInput {...wrapper} classNames={{ input: css.frame ?? '' }}>
      <Pill.Group disabled={wrapper.disabled ?? false}>
        {value.map((word) => (
          <Pill
            key={word}
            withRemoveButton={!wrapper.disabled}
            onRemove={() => onChange(value.filter((each) => each !== word))}
            // Not a stop of the Tab key: Backspace does the same.
            removeButtonProps={{ 'aria-label': `Remove ${word}`, 'aria-hidden': false }}
          >
            {word}
          </Pill>
        ))}
        <PillsInput.Field
          className={css.field ?? ''}
          value={text}
          name={name}
          data-autofocus={isFirst || undefined}
          placeholder={value.length === 0 ? placeholder : ''}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => add(text)}
          {...(suggestions.length > 0 ? { list: id } : {})}
        />
      </Pill.Group>
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </PillsInput>
  );
}
