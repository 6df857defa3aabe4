import { ActionIcon, Menu } from '@mantine/core';
import { KebabHorizontalIcon } from '@primer/octicons-react';

/** What is seldom done to an asset. */
export function AssetMenu({ isRetired, onChoose }: { isRetired: boolean; onChoose: (action: 'merge' | 'unmerge' | 'retire') => void }) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" aria-label="More actions">
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChoose('merge')}>Merge with another asset</Menu.Item>
        <Menu.Item onClick={() => onChoose('unmerge')}>Undo the last merge</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => onChoose('retire')}>{isRetired ? 'Put back in use' : 'Retire'}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
