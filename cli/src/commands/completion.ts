import { type Command, type Commands, EXIT, UsageError } from '../command.ts';
import { type Completed, scripts } from '../completion/completion-scripts.ts';

const SHELLS = Object.keys(scripts) as (keyof typeof scripts)[];

export const completionOf = (commands: Commands): Command => ({
  arguments: SHELLS.join('|'),
  examples: [
    "echo 'source <(rrs completion bash)' >> ~/.bashrc",
    'rrs completion zsh > ~/.zfunc/_rrs',
    'rrs completion fish > ~/.config/fish/completions/rrs.fish',
  ],
  async run({ positionals, terminal }) {
    const shell = SHELLS.find((name) => name === positionals[0]);
    if (shell === undefined || positionals.length > 1) throw new UsageError(`Name a shell: ${SHELLS.join(', ')}.`);
    terminal.out(scripts[shell](await completedOf(commands)));
    return EXIT.ok;
  },
});

async function completedOf(all: Commands): Promise<Completed[]> {
  return Promise.all(
    Object.entries(all).map(async ([name, { summary, load }]) => {
      const { options = {}, arguments: given } = await load();
      const words = given?.includes('|') && !/[A-Z]/.test(given) ? given.split('|') : [];
      return {
        name,
        summary,
        words,
        options: [
          ...Object.entries(options).map(([option, { help, value, choices = [] }]) => ({ option, help, takesValue: value !== undefined, choices })),
          HELP,
        ],
      };
    }),
  );
}

const HELP = { option: 'help', help: 'Show help.', takesValue: false, choices: [] };
