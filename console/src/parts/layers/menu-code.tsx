import { Menu } from '@mantine/core';
import type { Action, MenuProps } from './menu.tsx';

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
