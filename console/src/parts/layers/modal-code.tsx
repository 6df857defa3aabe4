import { Modal, type ModalProps } from '@mantine/core';

/** A file of its own: what it imports is loaded on demand. */
export function LoadedModal(props: ModalProps) {
  return <Modal {...props} />;
}
