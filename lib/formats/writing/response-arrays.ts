/**
 * The arrays of trainers that separate the first prompt from everything after it: slime, verl and SkyRL. Loss mask and
 * logprobs begin after the first prompt.
 */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { Path, TokenField, TrainingRow } from './training-row.ts'

/** The arrays of a trajectory. */
export interface ResponseArrays {
  /** Ids before the first response. */
  readonly prompt: readonly number[]
  /** Ids from the first response on, with later prompts such as tool results. */
  readonly response: readonly number[]
  /** For each id of `response`: 1 = trained. */
  readonly mask: readonly number[]
  /** For each id of `response`; 0 where an untrained token has none. Undefined if a trained token has none. */
  readonly logprobs: readonly number[] | undefined
  /** What the arrays leave out, in words. */
  readonly losses: readonly string[]
}

/** Returns the arrays, which are cut after `start` tokens; `trainer` names the trainer in the losses. */
export function responseArrays(
  trajectory: Trajectory,
  trainer: string,
  start = promptLength(trajectory),
): ResponseArrays {
  const allIds = ids(trajectory)
  const allMask = lossMask(trajectory)
  const allLogprobs = logprobs(trajectory)
  const mask = allMask.slice(start)
  const scores = allLogprobs.slice(start)
  const unscored = scores.some((score, index) => score === null && mask[index] === 1)
  return {
    prompt: allIds.slice(0, start),
    response: allIds.slice(start),
    mask,
    logprobs: unscored ? undefined : scores.map((score) => score ?? 0),
    losses: [
      ...(allLogprobs.slice(0, start).some((score) => score !== null) ? ['logprobs of the first prompt'] : []),
      ...(allMask.slice(0, start).includes(1) ? ['loss mask of the first prompt'] : []),
      ...(unscored ? [allLogprobs.some((score) => score !== null) ? someUnscored(trainer) : NONE_SCORED] : []),
    ],
  }
}

/** Returns the number of tokens before the first response; all tokens if there is none. */
function promptLength({ segments }: Trajectory): number {
  const first = segments.findIndex(({ kind }) => kind === 'response')
  return (first < 0 ? segments : segments.slice(0, first)).reduce((sum, { ids }) => sum + ids.length, 0)
}

/** 0.0 there would mean that the model was certain. */
const someUnscored = (trainer: string): string =>
  `all logprobs: some trained tokens have none, and ${trainer} needs all of them or none`
const NONE_SCORED = 'logprobs: none of the trained tokens has one'

/** The paths of the arrays in a record. */
export interface ResponsePaths {
  readonly prompt: Path
  readonly response: Path
  readonly mask: Path
  readonly logprobs: Path
}

/** Describes a record with these arrays; a path of several keys is named by its first. */
export function responseRow(
  paths: ResponsePaths,
  lengths: { readonly prompt: number; readonly response: number },
  hasLogprobs: boolean,
): TrainingRow {
  const prompt = { start: 0, end: lengths.prompt }
  const response = { start: lengths.prompt, end: lengths.prompt + lengths.response }
  const name = ([key]: Path) => String(key)
  const field = (meaning: TokenField['meaning'], path: Path, parts: TokenField['parts']): TokenField => ({
    name: name(path),
    meaning,
    parts,
  })
  return {
    fields: [
      {
        name: `${name(paths.prompt)}, ${name(paths.response)}`,
        meaning: 'ids',
        parts: [
          { kind: 'array', path: paths.prompt, tokens: prompt },
          { kind: 'array', path: paths.response, tokens: response },
        ],
      },
      field('mask', paths.mask, [
        { kind: 'implied', value: 0, tokens: prompt },
        { kind: 'array', path: paths.mask, tokens: response },
      ]),
      field('logprobs', paths.logprobs, hasLogprobs ? [{ kind: 'array', path: paths.logprobs, tokens: response }] : []),
    ],
    lengths: [],
  }
}
