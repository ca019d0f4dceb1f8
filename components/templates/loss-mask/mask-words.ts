/** Names of the mask doctor's ways and marks on the page. */
import type { Mark, MaskMethodName } from '#lib/templates/loss-mask/report.ts'

/** Title, short name and explanation of each way to compute a loss mask. */
export const MASK_METHODS: Readonly<
  Record<MaskMethodName, { readonly title: string; readonly short: string; readonly how: string }>
> = {
  tito: { title: 'TITO (sampled tokens)', short: 'TITO', how: 'The mask of the open trajectory.' },
  generation: {
    title: '{% generation %}',
    short: 'generation',
    how: 'Blocks of the template, mapped to tokens as transformers does it (return_assistant_tokens_mask).',
  },
  prefix: {
    title: 'prefix-render difference',
    short: 'prefix',
    how: 'For each reply: the conversation that ends with it, minus the conversation before it with the generation prompt (TRL, verl).',
  },
  'fixed-base': {
    title: 'fixed base',
    short: 'fixed base',
    how: 'Each message after a constant base conversation, minus the base; whole replies are trained (verl’s multi-turn rollouts).',
  },
}

/** Sign, text and colour of each mark; the colour is a CSS value, undefined for none. */
export const MARKS: Readonly<
  Record<Mark, { readonly sign: string; readonly text: string; readonly colour: string | undefined }>
> = {
  trained: { sign: '■', text: 'trained', colour: 'var(--band-trained)' },
  untrained: { sign: '□', text: 'not trained', colour: undefined },
  partly: { sign: '◧', text: 'partly trained', colour: 'var(--band-partly)' },
  unknown: { sign: '–', text: 'absent', colour: 'var(--band-absent)' },
}
