import {
  AlertIcon,
  CheckCircleFillIcon,
  CircleIcon,
  CircleSlashIcon,
  DotFillIcon,
  IssueReopenedIcon,
  ShieldCheckIcon,
  XCircleIcon,
} from '@primer/octicons-react';
import type { ReactNode } from 'react';
import css from './status.module.css';
import { term } from './words.ts';

const icons: Readonly<Record<string, ReactNode>> = {
  open: <CircleIcon size={14} />,
  in_progress: <IssueReopenedIcon size={14} />,
  remediated: <DotFillIcon size={14} />,
  verified: <CheckCircleFillIcon size={14} />,
  risk_accepted: <ShieldCheckIcon size={14} />,
  false_positive: <CircleSlashIcon size={14} />,
  withdrawn: <CircleSlashIcon size={14} />,
  succeeded: <CheckCircleFillIcon size={14} />,
  failed: <XCircleIcon size={14} />,
  failing: <XCircleIcon size={14} />,
  healthy: <CheckCircleFillIcon size={14} />,
  needs_confirmation: <AlertIcon size={14} />,
};

/** Status is grey with an icon. Only what is verified is green, and only what failed is red. */
export function StatusMark({ status }: { status: string }) {
  return (
    <span className={css.status} data-status={status}>
      {icons[status] ?? <CircleIcon size={14} />}
      {term(status)}
    </span>
  );
}
