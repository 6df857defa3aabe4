import type { Line, Tone } from '@rrs/evidence-format';
import type { Style } from './fonts.ts';

export const colors = { ink: '#1b2430', quiet: '#566273', rule: '#d3dae3', accent: '#1f3a5f', head: '#f1f4f8' } as const;

export const tones: Readonly<Record<Tone, { ink: string; tint: string }>> = {
  good: { ink: '#17633a', tint: '#e9f5ee' },
  warn: { ink: '#855300', tint: '#fdf4e1' },
  bad: { ink: '#a01818', tint: '#fcebea' },
  neutral: { ink: '#3d4a5c', tint: '#eef1f5' },
};

export const LEADING = 1.38;

export const styles = {
  mark: { font: 'bold', size: 7.5, color: tones.bad.ink },
  kicker: { font: 'bold', size: 13, color: colors.accent },
  quote: { font: 'sans', size: 10.5, color: colors.ink },
  small: { font: 'sans', size: 7.8, color: colors.quiet },
  headline: { font: 'bold', size: 25, color: colors.ink },
  lead: { font: 'sans', size: 10.5, color: colors.ink },
  section: { font: 'bold', size: 15, color: colors.accent },
  heading: { font: 'bold', size: 10.5, color: colors.ink },
  body: { font: 'sans', size: 9, color: colors.ink },
  strong: { font: 'bold', size: 9, color: colors.ink },
  label: { font: 'sans', size: 8.5, color: colors.quiet },
  grade: { font: 'bold', size: 30, color: colors.ink },
  columnHead: { font: 'bold', size: 7.5, color: colors.quiet },
  code: { font: 'mono', size: 7.5, color: colors.ink },
  margin: { font: 'sans', size: 7, color: colors.quiet },
} as const satisfies Record<string, Style>;

export function cellStyle(as: Line['as']): Style {
  switch (as) {
    case 'plain':
      return { font: 'sans', size: 7.8, color: colors.ink };
    case 'strong':
      return { font: 'bold', size: 7.8, color: colors.ink };
    case 'quiet':
      return { font: 'sans', size: 7.2, color: colors.quiet };
    case 'mono':
      return { font: 'mono', size: 5.8, color: colors.quiet };
    default:
      return { font: 'bold', size: 7.8, color: tones[as].ink };
  }
}
