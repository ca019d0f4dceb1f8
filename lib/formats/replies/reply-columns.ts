/** Aligns the logprobs of a reply with its ids. A logprob never moves to another token: if the counts differ, none is used. */
import type { Problem, ResponseSegment, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { contradiction, segmentOf } from '../columns.ts'
import { refuseIf } from '../reading/record-error.ts'
import { type TokenEntry, topLogprobsOf, vocabOf } from './token-entries.ts'

/** Tokens as columns of a segment. */
export interface ReplyColumns extends Pick<ResponseSegment, 'ids' | 'logprobs' | 'topLogprobs' | 'problems'> {
  readonly vocab: Vocab
  /** What the file lacks of these tokens, in words. */
  readonly lacked: readonly string[]
  /** Whether all entries became columns. False: the caller keeps them as they are. */
  readonly isWhole: boolean
}

interface Given {
  readonly ids: readonly number[] | undefined
  readonly entries: readonly TokenEntry[] | undefined
  /** Path of the ids and of the entries, for messages. */
  readonly paths: { readonly ids: string; readonly entries: string }
}

/** Returns the columns of a reply's or a prompt's tokens. Refuses entries that have other ids than the list of ids. */
export function replyColumns({ ids: listed, entries = [], paths }: Given): ReplyColumns {
  const own = entries.map(({ id }) => id)
  const ids = listed ?? (own.every((id) => id !== undefined) ? own : [])
  if (entries.length !== ids.length) {
    const problems: readonly Problem[] =
      listed === undefined || entries.length === 0 ? [] : [countProblem(listed.length, entries.length)]
    return {
      ids,
      ...(problems.length > 0 && { problems }),
      vocab: {},
      lacked: entries.length > 0 && ids.length === 0 ? ['ids of the tokens with logprobs: these are kept unread'] : [],
      isWhole: entries.length === 0,
    }
  }
  const known = own.map((id, index) => id ?? ids[index])
  refuseIf(
    contradiction([
      [paths.ids, ids],
      [paths.entries, known],
    ]),
  )
  const { logprobs, problems } = segmentOf(
    { isOutput: true, start: 0, end: ids.length },
    { ids, mask: undefined, logprobs: entries.map(({ logprob }) => logprob) },
  )
  const topLogprobs = topLogprobsOf(entries)
  const hasTexts = !topLogprobs && entries.some(({ alternatives = [] }) => alternatives.length > 0)
  return {
    ids,
    ...(logprobs && { logprobs }),
    ...(topLogprobs && { topLogprobs }),
    ...(problems && { problems }),
    vocab: vocabOf(ids, entries),
    lacked: hasTexts ? ['ids of the alternatives: their texts are kept unread'] : [],
    isWhole: !hasTexts,
  }
}

const countProblem = (ids: number, logprobs: number): Problem => ({
  kind: 'count',
  message: `The reply has ${ids} token ids and ${logprobs} logprobs. The ids are kept; the logprobs belong to unknown tokens and are kept unread.`,
  column: 'logprobs',
})
