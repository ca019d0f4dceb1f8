/**
 * Decides whether the last response of a trajectory can be resumed: continued from its own ids, as if it had never
 * stopped.
 */

import { SAMPLING_PARAMETERS } from '#lib/sampling/parameters.ts'
import type { Finish } from '../format/trajectory.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { responseCalls } from './response-calls.ts'

/** Ends that the model did not choose. */
const STOPPED: ReadonlySet<Finish['kind'] | undefined> = new Set(['cancelled', 'cut', 'length', 'abort'])

/** Returns why the last response cannot be resumed, as a sentence, or undefined if it can. */
export function resumeObstacle(
  { segments, outcome }: Pick<TrajectoryView, 'segments' | 'outcome'>,
  /** Sampling parameters of the call that would resume it. */
  sampling: object = {},
): string | undefined {
  const last = segments.at(-1)
  if (outcome.kind === 'running') return 'The run has not ended.'
  if (last?.kind !== 'response' || last.ids.length === 0) return 'The trajectory does not end with a response.'
  if (!STOPPED.has(last.finish?.kind)) return 'The model ended the last response.'
  if (last.request?.endpoint === 'chat')
    return 'A chat endpoint takes messages and cannot continue the first half of a response.'
  if (last.mask || last.columns) return 'The last response has a loss mask or columns that do not cover further tokens.'
  const grammar = [...responseCalls(last).flatMap(({ request }) => (request ? [request.samplingParams] : [])), sampling]
    .map(grammarIn)
    .find((name) => name !== undefined)
  if (grammar !== undefined) return `${grammar} constrains the response, and a server would restart its grammar.`
  return undefined
}

const grammarIn = (sampling: object): string | undefined =>
  Object.entries(SAMPLING_PARAMETERS).find(([name, { group }]) => group === 'Grammar' && name in sampling)?.[0]
