/**
 * Decides whether the last response of a trajectory can be resumed: continued from its own ids, as if it had never
 * stopped.
 */

import { SAMPLING_PARAMETERS } from '#lib/sampling/parameters.ts'
import type { Finish } from '../format/trajectory.ts'
import type { ResponseView, TrajectoryView } from '../tokens/trajectory-view.ts'
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
  if (last.columns) return 'The last response has columns that do not cover further tokens.'
  return grammarObstacle(last, sampling)
}

/** Returns why a grammar prevents that a response is continued, as a sentence, or undefined if none does. */
export function grammarObstacle(response: ResponseView, sampling: object): string | undefined {
  const grammar = [
    ...responseCalls(response).flatMap(({ request }) => (request ? [request.samplingParams] : [])),
    sampling,
  ]
    .map(grammarIn)
    .find((name) => name !== undefined)
  return grammar && `${grammar} constrains the response, and a server would restart its grammar.`
}

const grammarIn = (sampling: object): string | undefined =>
  Object.entries(SAMPLING_PARAMETERS).find(([name, { group }]) => group === 'Grammar' && name in sampling)?.[0]
