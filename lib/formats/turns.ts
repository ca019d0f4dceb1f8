/**
 * Joins the calls of a model to token sequences. Tools record each call with its whole prompt: a prompt that begins with
 * all earlier tokens continues their sequence, and any other begins a new one that names the first token that differs.
 */
import type { ForkedFrom, Message, Problem, ResponseSegment, Segment } from '#lib/trajectory/format/trajectory.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type Columns, segmentOf } from './columns.ts'

/** A call of a model. */
export interface Turn {
  /** The ids of the whole prompt. */
  readonly prompt: readonly number[]
  /** The sampled ids. */
  readonly response: readonly number[]
  /** Columns of the response. */
  readonly columns: Pick<Columns, 'mask' | 'logprobs' | 'numbers' | 'hasFillers'>
  /** All messages of the prompt, with those of the assistant. Empty if the file has none. */
  readonly messages: readonly Message[]
  /** What else is known about the response. */
  readonly about: Pick<ResponseSegment, 'finish' | 'usage' | 'timing' | 'message' | 'weightVersions'>
  readonly problems?: readonly Problem[]
}

/** Calls that form one token sequence. */
export interface JoinedTurns {
  readonly segments: readonly Segment[]
  /** The numbers of its turns in the list, in order. */
  readonly turns: readonly number[]
  /** The sequence with which it shares its first tokens. Omitted: none. */
  readonly forkedFrom?: ForkedFrom
  /** The id of its trajectory. */
  readonly id: string
}

/** A prompt is compared with this many of the latest sequences, so that many short calls remain cheap. */
const MOST_COMPARED = 16

/** Returns the token sequences of the calls, in the order of their first calls. `newId` gives each the id of its trajectory. */
export function joinTurns(turns: readonly Turn[], newId: () => string): readonly JoinedTurns[] {
  const sequences: Sequence[] = []
  for (const [number, turn] of turns.entries()) {
    const compared = sequences
      .slice(-MOST_COMPARED)
      .map((sequence) => ({ sequence, shared: commonIds(sequence.ids, turn.prompt) }))
    const continued = longest(compared.filter(({ sequence, shared }) => shared === sequence.ids.length))
    if (continued) {
      continueSequence(continued.sequence, turn, number)
      continue
    }
    const parent = longest(compared.filter(({ shared }) => shared > 0))
    const forkedFrom = parent && forkAt(parent, turn)
    const sequence = { ids: [], segments: [], turns: [], messages: 0, id: newId(), ...(forkedFrom && { forkedFrom }) }
    continueSequence(sequence, turn, number)
    sequences.push(sequence)
  }
  return sequences
}

interface Sequence extends JoinedTurns {
  readonly ids: number[]
  readonly segments: Segment[]
  readonly turns: number[]
  /** Number of messages of its latest prompt and response. */
  messages: number
}

interface Compared {
  readonly sequence: Sequence
  readonly shared: number
}

const longest = (all: readonly Compared[]): Compared | undefined => all.toSorted((a, b) => b.shared - a.shared)[0]

/** A difference within sampled tokens means that their text was encoded again; one within a prompt, that it was edited. */
function forkAt({ sequence, shared }: Compared, { prompt }: Turn): ForkedFrom {
  let start = 0
  let kind: ForkedFrom['kind'] = 'message'
  for (const segment of sequence.segments) {
    const end = start + segment.ids.length
    if (segment.kind === 'response' && shared === start && shared === prompt.length) kind = 'sampled_again'
    else if (segment.kind === 'response' && shared >= start && shared < end) kind = 'rendered_again'
    start = end
  }
  return { trajectory: sequence.id, token: shared, kind }
}

function continueSequence(sequence: Sequence, turn: Turn, number: number): void {
  const { prompt, response } = turn
  const added = prompt.slice(sequence.ids.length)
  const messages = turn.messages.slice(sequence.messages)
  if (added.length > 0 || messages.length > 0) sequence.segments.push({ kind: 'prompt', ids: added, messages })
  const wrongLength = logprobsOfOtherLength(turn)
  const { problems: own = [], ...segment } = segmentOf(
    { isOutput: true, start: 0, end: response.length },
    { ids: response, ...turn.columns, ...(wrongLength && { logprobs: undefined }) },
  )
  const problems = [...own, ...(wrongLength ? [wrongLength] : []), ...(turn.problems ?? [])]
  sequence.segments.push({
    ...(segment as ResponseSegment),
    ...(problems.length > 0 && { problems }),
    ...turn.about,
  })
  for (const id of added) sequence.ids.push(id)
  for (const id of response) sequence.ids.push(id)
  sequence.turns.push(number)
  sequence.messages = turn.messages.length + 1
}

/** Such files exist, also in the documentation of ATIF: their ids remain readable. */
function logprobsOfOtherLength({ response, columns: { logprobs } }: Turn): Problem | undefined {
  if (!logprobs || logprobs.length === response.length) return undefined
  return {
    kind: 'count',
    message: `The file has ${countWithNoun(logprobs.length, 'logprob')} for ${countWithNoun(response.length, 'token')}: which belongs to which is unknown, so none is used.`,
    column: 'logprobs',
  }
}
