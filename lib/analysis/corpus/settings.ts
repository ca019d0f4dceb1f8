/** Defines the settings of a corpus check. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type BuildResult, neededTokenizer } from '../compare/shown-side.ts'
import type { Reconstruction } from '../compare/side.ts'

/** Settings of a check that compares each recorded sample with its own reconstruction. */
export interface CorpusSettings {
  /** Mode of the reconstruction. Its `tokenizer`, if given, replaces the tokenizer of every sample. */
  readonly as: Extract<Reconstruction, { readonly kind: 'text' | 'structured' | 'raw' }>
  /** Tokenizer of samples that name none, or whose own is not available. Undefined: such samples are not checked. */
  readonly otherwise: string | undefined
}

/** Returns the name of the tokenizer for a sample, in the form that the loader accepts, or the reason why there is none. */
export function sampleTokenizer(
  trajectory: Pick<TrajectoryView, 'model'>,
  { as, otherwise }: CorpusSettings,
): BuildResult<string> {
  const needed = neededTokenizer(trajectory, as)
  if (needed.ok && needed.value !== undefined) return { ok: true, value: needed.value }
  if (otherwise !== undefined) return { ok: true, value: otherwise }
  return needed.ok ? { ok: false, why: 'No tokenizer is named.' } : needed
}
