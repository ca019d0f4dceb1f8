/** Health and drift as tasks: drift is apart because it waits for a tokenizer. */
import type { Health } from '#lib/trajectory/health/health.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from '../trajectory-task.ts'
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
