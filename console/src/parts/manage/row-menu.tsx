import { ActionIcon } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';
import { type Action, Menu } from '../layers/menu.tsx';

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
