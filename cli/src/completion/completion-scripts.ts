/** What a shell completes after the name of a command. */
export interface Completed {
  name: string;
  summary: string;
  /** Words that the command takes as argument. Without any, shells complete files. */
  words: readonly string[];
  options: readonly { option: string; help: string; takesValue: boolean; choices: readonly string[] }[];
}

export const scripts = { bash, zsh, fish };

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The first words of commands, each once, and the second words of each. */
function groupsOf(commands: readonly Completed[]): Map<string, Completed[]> {
  // Map.groupBy does not exist in Node 20.
  const groups = new Map<string, Completed[]>();
  for (const command of commands) {
    const first = command.name.split(' ')[0] ?? '';
    groups.set(first, [...(groups.get(first) ?? []), command]);
  }
  return groups;
}

const second = ({ name }: Completed): string => name.split(' ')[1] ?? '';

/** A `case` over the commands and one over their options with fixed values. */
function bash(commands: readonly Completed[]): string {
  const groups = groupsOf(commands);
  const subcommands = [...groups]
    .filter(([, [first]]) => first && second(first) !== '')
    .map(([group, all]) => `    ${group}) words=${quoted(all.map(second).join(' '))} ;;`);
  const options = commands.map(({ name, options: all }) => `    ${quoted(name)}) options=${quoted(all.map(({ option }) => `--${option}`).join(' '))} ;;`);
  const values = commands.flatMap(({ name, options: all }) =>
    all
      .filter(({ choices }) => choices.length > 0)
      .map(({ option, choices }) => `    ${quoted(`${name} --${option}`)}) values=${quoted(choices.join(' '))} ;;`),
  );
  const words = commands.filter((command) => command.words.length > 0).map(({ name, words: all }) => `    ${quoted(name)}) values=${quoted(all.join(' '))} ;;`);
  return `# Completes rrs in bash: source <(rrs completion bash)
_rrs() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words='' options='' values='' from=2
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quoted([...groups.keys(), 'help'].join(' '))} -- "$current"))
    return
  fi
  case $command in
${subcommands.join('\n')}
  esac
  if [[ -n $words ]]; then
    if ((COMP_CWORD == 2)); then
      COMPREPLY=($(compgen -W "$words" -- "$current"))
      return
    fi
    command="$command \${COMP_WORDS[2]}"
  fi
  case $command in
${options.join('\n')}
  esac
  case "$command $previous" in
${values.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  if [[ -z $values ]]; then
    case $command in
${words.join('\n')}
    esac
  fi
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  else
    compopt -o default 2>/dev/null
  fi
}
complete -F _rrs rrs
`;
}

function zsh(commands: readonly Completed[]): string {
  const described = (pairs: readonly (readonly [string, string])[]): string =>
    pairs.map(([word, text]) => quoted(`${word}:${text.replaceAll(/[\\:]/g, '\\$&')}`)).join(' ');
  const groups = groupsOf(commands);
  const summaryOf = (all: readonly Completed[]): string => (all.length === 1 ? (all[0]?.summary ?? '') : all.map(second).join(', '));
  const nested = [...groups].filter(([, [first]]) => first && second(first) !== '');
  const argument = ({ option, help, takesValue, choices }: Completed['options'][number]): string => {
    const text = help.replaceAll(/[[\]\\:]/g, '\\$&');
    const value = choices.length > 0 ? `:value:(${choices.join(' ')})` : ':value:_files';
    return quoted(`*--${option}[${text}]${takesValue ? value : ''}`);
  };
  const cases = commands.map(({ name, options, words }) => {
    const rest = words.length > 0 ? quoted(`*:argument:(${words.join(' ')})`) : quoted('*:file:_files');
    return `    ${quoted(name)}) _arguments ${options.map(argument).join(' ')} ${rest} ;;`;
  });
  return `#compdef rrs
# Completes rrs in zsh: rrs completion zsh > "\${fpath[1]}/_rrs"
_rrs() {
  local command=$words[2]
  local -a all
  if ((CURRENT == 2)); then
    all=(${described([...groups].map(([name, group]) => [name, summaryOf(group)]))})
    _describe command all
    return
  fi
  case $command in
${nested.map(([group, all]) => `    ${group}) all=(${described(all.map((one) => [second(one), one.summary]))}) ;;`).join('\n')}
  esac
  if ((\${#all})); then
    if ((CURRENT == 3)); then
      _describe command all
      return
    fi
    command="$command $words[3]"
    shift words
    ((CURRENT--))
  fi
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
if [[ \${funcstack[1]} == _rrs ]]; then _rrs "$@"; else compdef _rrs rrs; fi
`;
}

function fish(commands: readonly Completed[]): string {
  const groups = groupsOf(commands);
  const lines = [...groups].flatMap(([group, all]) => {
    const isNested = all.some((one) => second(one) !== '');
    const summary = isNested ? all.map(second).join(', ') : (all[0]?.summary ?? '');
    const first = `complete -c rrs -f -n __fish_use_subcommand -a ${group} -d ${quoted(summary)}`;
    if (!isNested) return [first];
    const unchosen = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${all.map(second).join(' ')}`;
    return [first, ...all.map((one) => `complete -c rrs -f -n ${quoted(unchosen)} -a ${second(one)} -d ${quoted(one.summary)}`)];
  });
  const details = commands.flatMap(({ name, options, words }) => {
    const when = quoted(
      name
        .split(' ')
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join('; and '),
    );
    return [
      ...(words.length > 0 ? [`complete -c rrs -f -n ${when} -a ${quoted(words.join(' '))}`] : []),
      ...options.map(({ option, help, takesValue, choices }) => {
        const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
        return `complete -c rrs -n ${when} -l ${option}${values} -d ${quoted(help)}`;
      }),
    ];
  });
  return `# Completes rrs in fish: rrs completion fish > ~/.config/fish/completions/rrs.fish\n${[...lines, ...details].join('\n')}\n`;
}
