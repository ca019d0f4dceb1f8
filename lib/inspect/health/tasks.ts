/** Health and drift as tasks: drift is apart because it waits for a tokenizer. */
import type { Health } from '#lib/core/health.ts'
import { unpack } from '#lib/core/packed.ts'
import type { TrainerCut } from '#lib/core/trainer-cut.ts'
import type { InspectTask } from '../task.ts'
import type { Drift } from './drift.ts'
import { health } from './health.ts'
import { textDrift } from './text-drift.ts'

/** `cut`: what the trainer takes; null: all of it. */
export const healthTask: InspectTask<
  { readonly cut: TrainerCut | null },
  { readonly done: number; readonly of: number },
  Health
> = ({ cut }, trajectory) => health(unpack(trajectory), cut)

/** With the tokenizer that driftTokenizer names. */
export const driftTask: InspectTask<undefined, 'encoding', Drift> = function* (_request, trajectory, [chosen]) {
  if (!chosen) return { kind: 'unknown', why: 'no tokenizer was given' }
  yield 'encoding'
  return textDrift(trajectory, chosen.tokenizer)
}
