import { Navigate } from '@tanstack/react-router';

/** Settings open on what everybody has. */
export function SettingsHome() {
  return <Navigate to="/settings/profile" replace />;
}
