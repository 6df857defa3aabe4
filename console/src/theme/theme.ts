import { createTheme } from '@mantine/core';

const small = { defaultProps: { size: 'xs' } };
/** Lists in layers never animate: a press of a key shows its effect at once. */
const still = { transitionProps: { duration: 0 } };
const list = { defaultProps: { size: 'xs', comboboxProps: still } };

/** Defaults of Mantine's components, by name: importing them here would load all of them with the first page. Colours are in tokens.css. */
export const theme = createTheme({
  primaryColor: 'indigo',
  cursorType: 'pointer',
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 28 } },
    Button: small,
    Checkbox: small,
    FileButton: small,
    Input: small,
    InputWrapper: small,
    Menu: { defaultProps: { ...still, shadow: 'md', position: 'bottom-end' } },
    // The page never scrolls, and the component that locks scrolling writes a style tag, which the policy of the page forbids.
    // The header of a dialog is not the banner of the page.
    Modal: {
      defaultProps: { ...still, lockScroll: false, closeButtonProps: { 'aria-label': 'Close' }, attributes: { header: { role: 'none' } } },
    },
    NativeSelect: small,
    PasswordInput: { defaultProps: { size: 'xs', visibilityToggleButtonProps: { 'aria-label': 'Show or hide what is typed' } } },
    PillsInput: small,
    SegmentedControl: small,
    Select: list,
    Switch: small,
    TextInput: small,
    Textarea: { defaultProps: { size: 'xs', autosize: true, minRows: 2, maxRows: 10 } },
    Tooltip: { defaultProps: { ...still, openDelay: 400 } },
  },
});
