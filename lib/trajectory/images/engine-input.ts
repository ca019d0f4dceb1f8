/** Converts the tokens of a prompt with images to the form that servers take. */
import type { Span } from '../format/trajectory.ts'

interface ImageInput {
  readonly inputIds: readonly number[]
  /** First position with prompt logprobs. */
  readonly logprobStartLen?: number | undefined
  readonly images: {
    /** The tokens of each image in the input ids. */
    readonly spans: readonly Span[]
    /** Number of tokens that the server reads for each of the first images. */
    readonly known?: readonly number[] | undefined
  }
}

/** What a server takes: one placeholder for each image, and positions that count the tokens that it will read. */
export interface EngineInput {
  readonly inputIds: readonly number[]
  readonly logprobStartLen?: number
}

/** Returns the input of a request with images in the form that a server takes. */
export function toEngineInput({ inputIds, logprobStartLen, images: { spans, known = [] } }: ImageInput): EngineInput {
  const isSame = spans.every(({ start, end }) => end === start + 1)
  return {
    inputIds: isSame ? inputIds : withoutRepeats(inputIds, spans),
    ...(logprobStartLen !== undefined && {
      logprobStartLen: spans.reduce((position, { start, end }, index) => {
        const length = end - start
        return end <= logprobStartLen ? position + (known[index] ?? length) - length : position
      }, logprobStartLen),
    }),
  }
}

const withoutRepeats = (ids: readonly number[], spans: readonly Span[]): readonly number[] => [
  ...spans.flatMap(({ start }, index) => ids.slice(spans[index - 1]?.end, start + 1)),
  ...ids.slice(spans.at(-1)?.end),
]
