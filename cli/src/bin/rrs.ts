import { main } from '../main.ts';
import { systemTerminal } from '../terminal.ts';

/** The program `rrs`. */
process.exitCode = await main(process.argv.slice(2), { terminal: systemTerminal(), env: process.env, folder: process.cwd() });
