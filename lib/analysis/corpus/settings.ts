/** With what a corpus is checked. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type Making, neededTokenizer } from '../compare/shown-side.ts'
import type { As } from '../compare/side.ts'

/** Against what samples are held: each as it was recorded against the same made again. */
export interface Check {
  /** With the tokenizer that is used instead of each sample’s own. */
  readonly as: Extract<As, { readonly kind: 'text' | 'structured' | 'raw' }>
  /** For samples that name no tokenizer, or whose own cannot be had. Undefined: they are not checked. */
  readonly otherwise: string | undefined
}

/** Name of the tokenizer that a sample is checked with, as the loader takes it; or why there is none. */
export function sampleTokenizer(trajectory: Pick<TrajectoryView, 'model'>, { as, otherwise }: Check): Making<string> {
  const needed = neededTokenizer(trajectory, as)
  if (needed.ok && needed.value !== undefined) return { ok: true, value: needed.value }
  if (otherwise !== undefined) return { ok: true, value: otherwise }
  return needed.ok ? { ok: false, why: 'No tokenizer is named.' } : needed
}
