import type { Command } from './command.ts';
import { listFindings, showFinding } from './commands/findings.ts';
import { gate } from './commands/gate.ts';
import { importReports } from './commands/import.ts';
import { login, whoami } from './commands/login.ts';

export const commands: Readonly<Record<string, Command>> = {
  login,
  whoami,
  import: importReports,
  gate,
  'findings list': listFindings,
  'findings show': showFinding,
};
