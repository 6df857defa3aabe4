import { ActionIcon } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';
import { Menu } from '../layers/menu.tsx';
import type { Action } from '../layers/menu-code.tsx';

/** What can be done with one row of a table. */
export function RowMenu({ label, actions }: { label: string; actions: readonly Action[] }) {
  return (
    <Menu
      target={
        <ActionIcon aria-label={label}>
          <KebabHorizontalIcon />
        </ActionIcon>
      }
      actions={actions}
    />
  );
}
