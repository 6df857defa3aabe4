import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { preferences } from '../theme/preferences.ts';
import { type CommandName, commands } from './commands.ts';

export type Handlers = Partial<Record<CommandName, () => void>>;

/** Handlers of the components on the screen. The last one that handles a command wins, so that a drawer comes before its page. */
const stack: { current: Handlers }[] = [];
const listeners = new Set<() => void>();
let available: readonly CommandName[] = [];

/** Gives commands a meaning as long as the component is on the screen. */
export function useCommands(handlers: Handlers): void {
  const entry = useRef(handlers);
  entry.current = handlers;
  const names = Object.keys(handlers).sort().join();
  // Before the component is on the screen: somebody may press a key as soon as they see it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the entry always has the newest handlers; only their names matter to the help.
  useLayoutEffect(() => {
    stack.push(entry);
    update();
    return () => {
      stack.splice(stack.indexOf(entry), 1);
      update();
    };
  }, [names]);
}

function update(): void {
  const names = new Set(stack.flatMap(({ current }) => Object.keys(current)));
  available = (Object.keys(commands) as CommandName[]).filter((name) => names.has(name));
  for (const listener of listeners) listener();
}

/** The commands that do something now. */
export function useAvailableCommands(): readonly CommandName[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => available,
  );
}

export function run(name: CommandName): boolean {
  const handler = stack.findLast(({ current }) => current[name] !== undefined)?.current[name];
  handler?.();
  return handler !== undefined;
}

const byKeys = new Map(Object.entries(commands).flatMap(([name, { keys }]) => keys.map((key) => [key as string, name as CommandName] as const)));
const prefixes = new Set([...byKeys.keys()].flatMap((keys) => (keys.includes(' ') ? [keys.split(' ')[0]] : [])));
const SEQUENCE_MS = 1500;
let pending: { prefix: string; at: number } | null = null;

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const key = nameOf(event);
  const withModifier = event.ctrlKey || event.metaKey;
  const letter = !withModifier && key !== 'Escape';
  if (letter && (isTyping(event.target) || isDialogOpen() || (preferences().letterKeys === 'off' && [...key.replace('shift+', '')].length === 1))) return;
  // Enter and Space belong to the button or link that has the focus.
  if ((key === 'Enter' || key === 'Space') && event.target instanceof Element && event.target.closest('a,button,summary,[role=tab],[role=menuitem]')) return;
  // Typing and selecting text work as everywhere.
  if (withModifier && key === 'mod+a' && isTyping(event.target)) return;
  const sequence = pending !== null && Date.now() - pending.at < SEQUENCE_MS ? `${pending.prefix} ${key}` : null;
  pending = null;
  const name = (sequence === null ? undefined : byKeys.get(sequence)) ?? byKeys.get(key);
  if (name !== undefined && run(name)) event.preventDefault();
  else if (sequence === null && prefixes.has(key)) pending = { prefix: key, at: Date.now() };
}

function nameOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  const plain = key === ' ' ? 'Space' : key.length === 1 ? key.toLowerCase() : key;
  if (ctrlKey || metaKey) return `mod+${plain}`;
  return shiftKey && /^(?:[a-z]|Arrow\w+)$/.test(plain) ? `shift+${plain}` : plain;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}

const isDialogOpen = (): boolean => document.querySelector('[role=dialog][aria-modal=true],[role=menu],[role=listbox][data-expanded]') !== null;

addEventListener('keydown', onKeyDown);

const isMac = /mac/i.test(navigator.userAgent);
/** How a key is written for people: "Ctrl K", "g then f". */
export function labelOf(keys: string): string {
  const named = keys.split(' ').map((key) =>
    key
      .replace('mod+', isMac ? '⌘ ' : 'Ctrl ')
      .replace('shift+', 'Shift ')
      .replace('ArrowDown', '↓')
      .replace('ArrowUp', '↑')
      .replace('ArrowLeft', '←')
      .replace('ArrowRight', '→')
      .replace('Escape', 'Esc')
      .replace(/\b([a-z])$/, (letter) => (keys.includes('+') ? letter.toUpperCase() : letter)),
  );
  return named.join(' then ');
}
