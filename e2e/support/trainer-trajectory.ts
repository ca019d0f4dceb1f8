/**
 * A trajectory with a trainer’s numbers, as an asynchronous trainer sends them: the weights change within a response, the sampler’s logprobs
 * are processed at temperature 0.7, and the trainer’s are raw, with a normaliser of each token.
 */
import type { ColumnMeaning, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { largeTrajectory } from './large-trajectory.ts'

const TEMPERATURE = 0.7
/** The response within which the weights change, counted from 0, and the share of it before the change. */
const CHANGED_RESPONSE = 2
const SHARE_BEFORE = 0.4
/** |log ratio| before and after the change, in nats: half of the width of a uniform distribution. */
const LEVEL_BEFORE = 0.03
const LEVEL_AFTER = 0.35
const OUTLIERS: Readonly<Record<number, number>> = { 2: 1.92, 6: 1.69, 48: 1.38, 90: 1.27, 131: 1.01 }
const NORMALISER = 'trainerNormaliser'

const COLUMN_MEANINGS: Readonly<Record<string, ColumnMeaning>> = {
  logprobs: { quantity: 'logprob', model: 'rollout', values: 'processed', temperature: TEMPERATURE, engine: 'SGLang' },
  trainerLogprobs: {
    quantity: 'logprob',
    model: 'trainer',
    values: 'raw',
    normaliser: NORMALISER,
    engine: 'Megatron',
    source: 'trainer, step 42',
  },
  [NORMALISER]: { quantity: 'normaliser', model: 'trainer', temperature: TEMPERATURE },
  advantage: { quantity: 'advantage' },
}

/** Returns the trajectory; its largest importance ratio is exp(1.92), two tokens after the change of the weights. */
export function trainerTrajectory(id: string): Trajectory {
  const random = randomNumbers(11)
  const { title: _, ...plain } = largeTrajectory({ tokens: 8_000, seed: 5 })
  let response = -1
  return {
    ...plain,
    id,
    title: 'miles, step 42, sample 3',
    columnMeanings: COLUMN_MEANINGS,
    reward: 1,
    outcome: { kind: 'ended', reason: 'end_turn' },
    segments: plain.segments.map((segment): Segment => {
      if (segment.kind === 'prompt') return segment
      response++
      return withTrainer(segment, response, random)
    }),
  }
}

function withTrainer(segment: ResponseSegment, response: number, random: () => number): Segment {
  const { ids, logprobs = [], request } = segment
  const change =
    response < CHANGED_RESPONSE ? ids.length : response > CHANGED_RESPONSE ? 0 : Math.round(ids.length * SHARE_BEFORE)
  const normalisers = ids.map(() => Math.fround(-0.4 * random()))
  const trainer = logprobs.map((logprob, index) => {
    const level = index < change ? LEVEL_BEFORE : LEVEL_AFTER
    const outlier = response === CHANGED_RESPONSE ? OUTLIERS[index - change] : undefined
    const isStop = index === ids.length - 1
    const delta = isStop ? -1.1 - response / 10 : (outlier ?? (2 * random() - 1) * level)
    return TEMPERATURE * ((logprob ?? 0) + delta + (normalisers[index] ?? 0))
  })
  return {
    ...segment,
    ...(request && {
      request: { ...request, samplingParams: { ...request.samplingParams, temperature: TEMPERATURE } },
    }),
    columns: {
      trainerLogprobs: trainer,
      [NORMALISER]: normalisers,
      advantage: ids.map(() => 0.84),
    },
    weightVersions: [
      ...(change > 0 ? [{ version: '41', start: 0, end: change }] : []),
      ...(change < ids.length ? [{ version: '42', start: change, end: ids.length }] : []),
    ],
  }
}
