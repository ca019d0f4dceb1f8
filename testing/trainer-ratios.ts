/** Trajectories with a trainer’s logprobs, whose ratios are given. For tests. */
import type { ColumnMeaning, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from './sample-trajectory.ts'

/** A response of a test trajectory: the ratios of its tokens, and what else it records. */
export interface RatioResponse extends Partial<Omit<ResponseSegment, 'kind' | 'ids' | 'logprobs'>> {
  readonly ratios: readonly number[]
}

/** Meanings that make both columns comparable as they are. */
export const RAW: Readonly<Record<string, ColumnMeaning>> = {
  logprobs: { quantity: 'logprob', model: 'rollout', values: 'raw', engine: 'vllm' },
  trainerLogprobs: { quantity: 'logprob', model: 'trainer', values: 'raw', engine: 'fsdp' },
}

/** Returns a trajectory with a prompt of two tokens before each response. Every token was sampled with logprob −8. */
export const withRatios = (
  responses: readonly RatioResponse[],
  columnMeanings: Trajectory['columnMeanings'] = RAW,
): Trajectory => ({
  ...sample,
  model: { ...sample.model, tools: [] },
  vocab: { '3': 'a', '7': 'b' },
  ...(columnMeanings && { columnMeanings }),
  segments: responses.flatMap(({ ratios, columns, ...rest }) => [
    { kind: 'prompt' as const, ids: [7, 7], messages: [] },
    {
      kind: 'response' as const,
      ids: ratios.map(() => 3),
      logprobs: ratios.map(() => -8),
      columns: { trainerLogprobs: ratios.map((ratio) => -8 + Math.log(ratio)), ...columns },
      thinks: [],
      toolCalls: [],
      ...rest,
    },
  ]),
})
