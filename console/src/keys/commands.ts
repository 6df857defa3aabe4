/**
 * All commands that keys reach. One table: the help shows it, the palette searches it, and a test presses every key.
 * A page gives a command its meaning with `useCommands`.
 *
 * `mod` is Ctrl, or ⌘ on a Mac. "g f" means g, then f.
 */
export const commands = {
  palette: { keys: ['mod+k'], does: 'Search and run commands', group: 'Everywhere' },
  help: { keys: ['?'], does: 'Show the keys of this page', group: 'Everywhere' },
  rail: { keys: ['['], does: 'Collapse or expand the navigation', group: 'Everywhere' },
  close: { keys: ['Escape'], does: 'Close what is on top', group: 'Everywhere' },
  submit: { keys: ['mod+Enter'], does: 'Send the form of the dialog', group: 'Everywhere' },
  filter: { keys: ['/'], does: 'Go to the filter or search field', group: 'Everywhere' },
  create: { keys: ['c'], does: 'Create: finding, work item, import or connection, depending on the page', group: 'Everywhere' },
  'show-changes': { keys: ['.'], does: 'Show what changed since the list was read', group: 'Everywhere' },
  'copy-link': { keys: ['y'], does: 'Copy a link to this page', group: 'Everywhere' },
  'go-overview': { keys: ['g o'], does: 'Go to the overview', group: 'Go to' },
  'go-findings': { keys: ['g f'], does: 'Go to findings', group: 'Go to' },
  'go-work': { keys: ['g w'], does: 'Go to work items', group: 'Go to' },
  'go-assets': { keys: ['g a'], does: 'Go to assets', group: 'Go to' },
  'go-imports': { keys: ['g i'], does: 'Go to imports', group: 'Go to' },
  'go-integrations': { keys: ['g n'], does: 'Go to integrations', group: 'Go to' },
  'go-evidence': { keys: ['g e'], does: 'Go to evidence', group: 'Go to' },
  'go-settings': { keys: ['g s'], does: 'Go to settings', group: 'Go to' },
  next: { keys: ['j', 'ArrowDown'], does: 'Next row', group: 'Lists' },
  previous: { keys: ['k', 'ArrowUp'], does: 'Previous row', group: 'Lists' },
  open: { keys: ['Enter', 'Space'], does: 'Open the row, or close it again', group: 'Lists' },
  select: { keys: ['x'], does: 'Select the row', group: 'Lists' },
  'select-range': { keys: ['shift+x'], does: 'Select all rows from the last selected one', group: 'Lists' },
  'extend-down': { keys: ['shift+ArrowDown', 'shift+j'], does: 'Select this row and the next one', group: 'Lists' },
  'extend-up': { keys: ['shift+ArrowUp', 'shift+k'], does: 'Select this row and the one before', group: 'Lists' },
  'select-all': { keys: ['mod+a'], does: 'Select all rows that are loaded', group: 'Lists' },
  left: { keys: ['h', 'ArrowLeft'], does: 'Column to the left', group: 'Lists' },
  right: { keys: ['l', 'ArrowRight'], does: 'Column to the right', group: 'Lists' },
  'move-left': { keys: ['shift+h'], does: 'Move the card to the column on the left', group: 'Lists' },
  'move-right': { keys: ['shift+l'], does: 'Move the card to the column on the right', group: 'Lists' },
  status: { keys: ['s'], does: 'Change the status', group: 'Triage' },
  remediate: { keys: ['r'], does: 'Mark as remediated', group: 'Triage' },
  progress: { keys: ['e'], does: 'Mark as in progress', group: 'Triage' },
  'false-positive': { keys: ['f'], does: 'Mark as a false positive', group: 'Triage' },
  accept: { keys: ['a'], does: 'Accept the risk', group: 'Triage' },
  'work-item': { keys: ['w'], does: 'Add to a work item', group: 'Triage' },
  severity: { keys: ['v'], does: 'Override the severity', group: 'Triage' },
  tags: { keys: ['t'], does: 'Change tags', group: 'Triage' },
  undo: { keys: ['u'], does: 'Undo the last change of status', group: 'Triage' },
} as const satisfies Record<string, { keys: readonly string[]; does: string; group: string }>;

export type CommandName = keyof typeof commands;
