import { Modal } from '@mantine/core';
import { SignInForm } from '../parts/sign-in-form.tsx';

/** The session ended while somebody was working. The page behind stays as it is. */
export function SignInAgain({ email, onDone }: { email: string | null; onDone: () => void }) {
  return (
    <Modal opened onClose={() => {}} withCloseButton={false} closeOnEscape={false} closeOnClickOutside={false} title="Your session ended. Sign in to go on.">
      <SignInForm email={email ?? ''} onDone={onDone} />
    </Modal>
  );
}
