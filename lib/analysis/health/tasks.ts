/** Defines health and drift as tasks. Drift is a separate task because it waits for a tokenizer. */
import type { Health } from '#lib/trajectory/health/health.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from '../trajectory-task.ts'
import type { Drift } from './drift.ts'
import { health } from './health.ts'
import { textDrift } from './text-drift.ts'

/** Task that checks the trajectory. `cut` is what the trainer takes of a sample; null: all of it. */
export const healthTask: InspectTask<
  { readonly cut: TrainerCut | null },
  { readonly done: number; readonly of: number },
  Health
> = ({ cut }, trajectory) => health(unpack(trajectory), cut)

/** Task that finds drift with its first tokenizer, which must be the one that driftTokenizer names. */
export const driftTask: InspectTask<undefined, 'encoding', Drift> = function* (_request, trajectory, [chosen]) {
  if (!chosen) return { kind: 'unknown', why: 'no tokenizer is chosen' }
  yield 'encoding'
  return textDrift(trajectory, chosen.tokenizer)
}
