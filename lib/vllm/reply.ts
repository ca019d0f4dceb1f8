/**
 * Converts replies of /v1/completions to the form that all engines share. Ids come twice: as numbers in `token_ids`, and as texts
 * "token_id:N" beside the logprobs. Both are compared, because they can come from different payloads.
 */
import * as z from 'zod'
import type { LogprobLists, TopColumns } from '#lib/engine/columns.ts'
import { EngineError, foreignText } from '#lib/engine/http/errors.ts'
import type { RequestImages } from '#lib/engine/images.ts'
import type { EngineReply } from '#lib/engine/reply.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'

const idsSchema = z.array(z.int().min(0))
const scoredSchema = z.looseObject({ logprob: z.number().nullable() })

/** Schema of the one choice of a reply. */
export const choiceSchema = z.looseObject({
  index: z.int().default(0),
  text: z.string().nullish(),
  finish_reason: z.string().nullish(),
  stop_reason: z.union([z.int(), z.string()]).nullish(),
  token_ids: idsSchema.nullish(),
  prompt_token_ids: idsSchema.nullish(),
  prompt_logprobs: z.array(z.record(z.string(), scoredSchema).nullable()).nullish(),
  logprobs: z
    .looseObject({
      tokens: z.array(z.string()).nullish(),
      token_logprobs: z.array(z.number().nullable()).nullish(),
      top_logprobs: z.array(z.record(z.string(), z.number().nullable()).nullable()).nullish(),
    })
    .nullish(),
})

/** Schema of the counts of a reply. */
export const usageSchema = z.looseObject({
  prompt_tokens: z.int().nullish(),
  completion_tokens: z.int().nullish(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).nullish(),
})

/** Schema of a whole reply of /v1/completions, or of one event of its stream. */
export const completionSchema = z.looseObject({
  choices: z.array(choiceSchema),
  usage: usageSchema.nullish(),
})
/** A reply of /v1/completions, or one event of its stream. */
export type Completion = z.infer<typeof completionSchema>
/** The one choice of a reply. */
export type CompletionChoice = z.input<typeof choiceSchema>

/** The fields of a request by which its reply is read. */
export interface ReplyRequest {
  readonly inputIds: readonly number[]
  readonly logprobStartLen?: number | undefined
  /** The number of requested alternatives. */
  readonly topLogprobsNum: number
  /** True if the reply only scores the prompt: the one token that the server samples nevertheless is dropped. */
  readonly scoreOnly?: boolean | undefined
  /** The images of the prompt: the server reads more ids than were sent. Undefined: none. */
  readonly images?: RequestImages | undefined
  readonly apiKey: string | undefined
}

/** Returns the ids of a choice: `token_ids`, or those in its logprobs; undefined if it has none. */
export function idsOf({ token_ids: ids, logprobs }: CompletionChoice): readonly number[] | undefined {
  return ids ?? idsInTexts(logprobs?.tokens ?? undefined)
}

/** Returns a whole reply, or an event of a stream, as a part. Throws EngineError. */
export function engineReply(
  { choices, usage }: Completion,
  requested: ReplyRequest,
  isIncrement: boolean,
): EngineReply {
  const choice = choices[0] ?? { index: 0 }
  if (!requested.images) checkPrompt(choice, requested)
  const { scoreOnly, apiKey } = requested
  const output = scoreOnly ? undefined : outputOf(choice)
  const alternatives = requested.topLogprobsNum
  return {
    columns: {
      ...(output && { output }),
      ...(output && alternatives > 0 && topOf(choice, output.ids.length, alternatives)),
      ...(choice.prompt_logprobs &&
        promptColumns(choice.prompt_logprobs, requested.images ? imagePrompt(choice, requested) : requested)),
    },
    outputIds: scoreOnly ? [] : idsOf(choice),
    text: scoreOnly ? '' : choice.text,
    promptTokens: usage?.prompt_tokens,
    ...(requested.images && { promptIds: choice.prompt_token_ids }),
    completionTokens: scoreOnly ? 0 : usage?.completion_tokens,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens,
    finish: scoreOnly ? { kind: 'length' } : finishOf(choice, apiKey),
    ...(isIncrement && { isIncrement }),
  }
}

/** A server that shortens a prompt reads other ids than it was sent. */
function checkPrompt({ prompt_token_ids: ids }: CompletionChoice, { inputIds }: ReplyRequest): void {
  if (!ids) return
  const odd = inputIds.findIndex((id, index) => id !== ids[index])
  if (odd >= 0 || ids.length !== inputIds.length)
    throw new EngineError(
      'INCONSISTENT',
      `the server read ${ids.length} prompt tokens, ${inputIds.length} were sent${odd >= 0 ? `; the first difference is at position ${odd}` : ''}`,
    )
}

/** Returns the logprobs of the sampled tokens; undefined if the choice has none. Throws INCONSISTENT if their number differs from that of the ids. */
function outputOf(choice: CompletionChoice): LogprobLists | undefined {
  const { token_logprobs: logprobs, tokens } = choice.logprobs ?? {}
  const ids = idsInTexts(tokens ?? undefined) ?? choice.token_ids
  if (!logprobs || !ids) return undefined
  if (logprobs.length !== ids.length)
    throw new EngineError('INCONSISTENT', `the server sent ${logprobs.length} logprobs for ${ids.length} tokens`)
  return { ids, logprobs: logprobs.map(finiteOrBelow) }
}

function topOf({ logprobs }: CompletionChoice, tokens: number, k: number): { readonly outputTop?: TopColumns } {
  const rows = logprobs?.top_logprobs
  // Texts in place of ids would be ambiguous, so the alternatives of a server that sends them are left out.
  if (!rows || tokens === 0 || !idsInTexts(logprobs?.tokens ?? undefined)) return {}
  return {
    outputTop: topColumns(
      rows.map((row) => alternativesOf(row, idInText)),
      k,
    ),
  }
}

/** A token and its logprob. */
type Alternative = readonly [id: number, logprob: number | null]

/** Returns a row from the most likely alternative on. Entries without an id are left out. */
function alternativesOf(
  row: Readonly<Record<string, number | null>> | null,
  idOf: (key: string) => number | undefined,
): readonly Alternative[] {
  return Object.entries(row ?? {})
    .flatMap(([key, logprob]): Alternative[] => {
      const id = idOf(key)
      return id === undefined ? [] : [[id, logprob]]
    })
    .sort(([, a], [, b]) => (b ?? Number.NEGATIVE_INFINITY) - (a ?? Number.NEGATIVE_INFINITY))
}

/** The sampled token is listed too; if it is not one of the k most likely, it is the last one and is left out. */
function topColumns(rows: readonly (readonly Alternative[])[], k: number): TopColumns {
  const cells = rows.flatMap((row) => Array.from({ length: k }, (_, index) => row[index]))
  return {
    k,
    ids: cells.map((cell) => cell?.[0] ?? -1),
    logprobs: cells.map((cell) => finiteOrBelow(cell?.[1] ?? null)),
  }
}

/** Returns the request as if it had the ids that the server read. Their scores are assigned to the sent ids later, from the end on. */
const imagePrompt = (
  { prompt_token_ids: ids }: CompletionChoice,
  { images: _, logprobStartLen: __, ...requested }: ReplyRequest,
): ReplyRequest => ({ ...requested, inputIds: ids ?? requested.inputIds })

/** Returns the scores of the prompt from the requested position on. */
function promptColumns(
  rows: NonNullable<CompletionChoice['prompt_logprobs']>,
  { inputIds, logprobStartLen = 0, topLogprobsNum: k }: ReplyRequest,
): { readonly input: LogprobLists; readonly inputTop?: TopColumns } {
  if (rows.length !== inputIds.length)
    throw new EngineError('INCONSISTENT', `the server scored ${rows.length} of ${inputIds.length} prompt tokens`)
  const ids = inputIds.slice(logprobStartLen)
  const scored = rows
    .slice(logprobStartLen)
    .map((row) =>
      row === null ? null : Object.fromEntries(Object.entries(row).map(([id, { logprob }]) => [id, logprob])),
    )
  const logprobs = scored.map((row, index) => {
    if (row === null) return null
    const logprob = row[String(ids[index])]
    if (logprob === undefined)
      throw new EngineError(
        'INCONSISTENT',
        `the server returned no logprob for token id ${ids[index]} at position ${logprobStartLen + index} of the prompt`,
      )
    return finiteOrBelow(logprob)
  })
  const top = k > 0 && {
    inputTop: topColumns(
      scored.map((row) => alternativesOf(row, wholeNumber)),
      k,
    ),
  }
  return { input: { ids, logprobs }, ...top }
}

const wholeNumber = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined)

const PREFIX = 'token_id:'

/** Returns the text that represents an id beside logprobs. */
export const idText = (id: number): string => `${PREFIX}${id}`

const idInText = (text: string): number | undefined =>
  text.startsWith(PREFIX) ? wholeNumber(text.slice(PREFIX.length)) : undefined

/** Returns the ids of texts "token_id:N"; undefined if one has another form, as from servers that ignore the request for it. */
function idsInTexts(texts: readonly string[] | undefined): readonly number[] | undefined {
  const ids = texts?.map(idInText)
  return ids?.every((id) => id !== undefined) ? ids : undefined
}

/** vLLM writes −9999 in place of minus infinity. */
const MINUS_INFINITY = -9999

const finiteOrBelow = (logprob: number | null): number | null =>
  logprob !== null && logprob <= MINUS_INFINITY ? Number.NEGATIVE_INFINITY : logprob

function finishOf(choice: CompletionChoice, apiKey: string | undefined): Finish | undefined {
  const { finish_reason: reason, stop_reason: stop } = choice
  switch (reason) {
    case null:
    case undefined:
      return undefined
    case 'length':
      return { kind: 'length' }
    case 'stop': {
      const matched = typeof stop === 'string' ? foreignText(stop, apiKey) : (stop ?? idsOf(choice)?.at(-1))
      return { kind: 'stop', ...(matched !== undefined && { matched }) }
    }
    case 'abort':
      return { kind: 'abort' }
    default:
      return { kind: 'unknown', raw: foreignText(JSON.stringify(reason), apiKey) }
  }
}
