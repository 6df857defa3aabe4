import { str } from '../../shared/read.ts';
import { findRule, type Run } from './run.ts';

/** Where a file says that a rule is enabled or not. */
const CONFIGURED = ['tool.driver.rules.*.defaultConfiguration', 'tool.extensions.*.rules.*.defaultConfiguration'];
export const ENABLED = [...CONFIGURED, 'invocations.*.ruleConfigurationOverrides.*.configuration'].map((part) => `runs.*.${part}.enabled`);

/** Most rules that are named as disabled. A run that disables more proves nothing. */
const MAX_DISABLED = 10_000;

/**
 * Rules that a run did not check, at least in one of its invocations: an override disables them, or they are disabled by default and no override enables
 * them. A configuration that does not say is enabled (section 3.50.2). Null if the file does not say which rules these are.
 */
export function disabledRules(runs: Iterable<Run>): string[] | null {
  const disabled = new Set<string>();
  for (const run of runs) {
    const enabled = new Set<string>();
    for (const { descriptor, isEnabled } of run.invocations.flatMap((invocation) => invocation?.overrides ?? [])) {
      const rule = str(descriptor.id) ?? findRule(descriptor, run)?.rule.id;
      if (!isEnabled && (rule === undefined || disabled.size >= MAX_DISABLED)) return null;
      if (rule !== undefined) (isEnabled ? enabled : disabled).add(rule);
    }
    for (const rule of [run.driver, ...run.extensions].flatMap((component) => component?.rules ?? [])) {
      if (!rule || rule.isEnabled || (rule.id !== undefined && enabled.has(rule.id))) continue;
      if (rule.id === undefined || disabled.size >= MAX_DISABLED) return null;
      disabled.add(rule.id);
    }
  }
  return [...disabled];
}
