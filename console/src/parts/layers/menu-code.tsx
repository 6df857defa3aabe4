import { Menu } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** What a menu offers: something to do, or a file to download. */
export interface Action {
  label: string;
  onChoose?: () => void;
  /** The address of the file. */
  download?: string;
  hint?: ReactNode;
  isDangerous?: boolean;
  isDisabled?: boolean;
}

export interface MenuProps {
  /** The button that opens it. */
  target: ReactElement;
  actions: readonly Action[];
}

export function LoadedMenu({ target, actions }: MenuProps) {
  return (
    <Menu>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {actions.map((action) => (
          <Item key={action.label} {...action} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Item({ label, onChoose, download, hint, isDangerous = false, isDisabled = false }: Action) {
  const common = { ...(hint ? { rightSection: <span className="dim">{hint}</span> } : {}), ...(isDangerous ? { color: 'red' } : {}), disabled: isDisabled };
  if (download !== undefined)
    return (
      <Menu.Item {...common} component="a" href={download} download>
        {label}
      </Menu.Item>
    );
  return (
    <Menu.Item {...common} onClick={() => onChoose?.()}>
      {label}
    </Menu.Item>
  );
}
