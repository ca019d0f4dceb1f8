/**
 * Converts replies of llama.cpp's /completion to the form that all engines share. `tokens` has every id, but
 * `completion_probabilities` lacks the tokens that end inside a character and, after a stop text, those of the stop text.
 */
import * as z from 'zod'
import type { LogprobLists, TopColumns } from '#lib/engine/columns.ts'
import { foreignText } from '#lib/engine/http/errors.ts'
import type { EngineReply } from '#lib/engine/reply.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'

const idSchema = z.int().min(0)
const probabilitySchema = z.looseObject({
  id: idSchema,
  logprob: z.number().nullable(),
  top_logprobs: z.array(z.looseObject({ id: idSchema, logprob: z.number().nullable() })).nullish(),
})

/** Schema of a whole reply of /completion. */
export const completionReplySchema = z.looseObject({
  content: z.string().nullish(),
  tokens: z.array(idSchema),
  tokens_predicted: z.int().nullish(),
  tokens_evaluated: z.int().nullish(),
  stop_type: z.string().nullish(),
  stopping_word: z.string().nullish(),
  completion_probabilities: z.array(probabilitySchema).nullish(),
  timings: z
    .looseObject({ cache_n: z.int().nullish(), prompt_ms: z.number().nullish(), predicted_ms: z.number().nullish() })
    .nullish(),
})
type CompletionReply = z.infer<typeof completionReplySchema>
type Probability = z.infer<typeof probabilitySchema>

/** Returns a whole reply as a part. `alternatives` is the number of requested alternatives. */
export function engineReply(reply: CompletionReply, alternatives: number, apiKey: string | undefined): EngineReply {
  const { tokens, timings } = reply
  const rows = alignedRows(tokens, reply.completion_probabilities ?? [])
  const output: LogprobLists = { ids: tokens, logprobs: rows.map((row) => row?.logprob ?? null) }
  return {
    columns: { output, ...(alternatives > 0 && { outputTop: topColumns(rows, alternatives) }) },
    text: reply.content,
    promptTokens: reply.tokens_evaluated,
    completionTokens: reply.tokens_predicted,
    cachedTokens: timings?.cache_n,
    finish: finishOf(reply, apiKey),
    serverMs:
      typeof timings?.prompt_ms === 'number' && typeof timings.predicted_ms === 'number'
        ? timings.prompt_ms + timings.predicted_ms
        : undefined,
  }
}

/**
 * Returns the row of each token; undefined where the reply has none, or where more than one assignment is possible. A row is
 * certain if the first and the last possible assignment agree on it.
 */
export function alignedRows(
  ids: readonly number[],
  rows: readonly Probability[],
): readonly (Probability | undefined)[] {
  if (rows.length === ids.length && rows.every((row, index) => row.id === ids[index])) return rows
  const first = firstPlaces(ids, rows)
  const backward = firstPlaces([...ids].reverse(), [...rows].reverse())
  const aligned = new Array<Probability | undefined>(ids.length).fill(undefined)
  if (!first || !backward) return aligned
  const last = backward.map((place) => ids.length - 1 - place).reverse()
  for (const [index, row] of rows.entries()) {
    const place = first[index]
    if (place !== undefined && place === last[index]) aligned[place] = row
  }
  return aligned
}

/** Returns the earliest index of each row's id, in order; undefined if the rows are not a part of the ids. */
function firstPlaces(ids: readonly number[], rows: readonly Probability[]): readonly number[] | undefined {
  const places: number[] = []
  let from = 0
  for (const { id } of rows) {
    const place = ids.indexOf(id, from)
    if (place < 0) return undefined
    places.push(place)
    from = place + 1
  }
  return places
}

function topColumns(rows: readonly (Probability | undefined)[], k: number): TopColumns {
  const cells = rows.flatMap((row) => Array.from({ length: k }, (_, index) => row?.top_logprobs?.[index]))
  return { k, ids: cells.map((cell) => cell?.id ?? -1), logprobs: cells.map((cell) => cell?.logprob ?? null) }
}

function finishOf(
  { stop_type: type, stopping_word: word, tokens }: CompletionReply,
  apiKey: string | undefined,
): Finish {
  const last = tokens.at(-1)
  switch (type) {
    case 'eos':
      return { kind: 'stop', ...(last !== undefined && { matched: last }) }
    case 'word':
      return { kind: 'stop', ...(word && { matched: foreignText(word, apiKey) }) }
    case 'limit':
      return { kind: 'length' }
    default:
      return { kind: 'unknown', raw: foreignText(JSON.stringify(type ?? null), apiKey) }
  }
}
