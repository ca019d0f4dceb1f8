/**
 * The output of TorchRL's SGLangWrapper and vLLMWrapper (torchrl 0.14): one sample of their TensorDict as in
 * `to_dict()`, with tensors as lists. Text, Tokens, Masks, LogProbs and ChatHistory under the wrappers' default keys,
 * each optional. Prompt and response are one range each; `masks.all_assistant_mask` marks further turns.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Message, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseTextWithStarts, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { contradiction, hasLogprobs, idsSchema, lengthViolation, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals, parsedAt, refuseIf } from '../reading/record-error.ts'
import { listDroppedContent, listDroppedForeignFields } from '../writing/export-losses.ts'
import type { TokenField } from '../writing/training-row.ts'
import { trainedTrajectory } from './trained-sequence.ts'

const NAME = 'torchrl'

/** The format of TorchRL outputs. */
export const torchrl: Format = {
  name: NAME,
  label: 'TorchRL',
  keeps: 'Text, tokens, masks, logprobs and chat history: the output of SGLangWrapper and vLLMWrapper.',
  sniff: (value) =>
    isObject(value) &&
    isObject(value.tokens) &&
    ['full', 'prompt', 'response'].some((key) => key in (value.tokens as object)),
  read: catchRefusals((value, source) => [read(value, source)]),
  write,
  rows: (record) => {
    const { tokens, log_probs: scores } = record as ReturnType<typeof write>['value']
    const whole = { start: 0, end: tokens.full.length }
    const field = (name: string, path: readonly [string, string], meaning: TokenField['meaning']): TokenField => ({
      name,
      meaning,
      parts: [{ kind: 'array', path, tokens: whole }],
    })
    const logprobs = field('log_probs.full', ['log_probs', 'full'], 'logprobs')
    // `prompt` and `response` are slices of these, cut where the first response begins.
    return [
      {
        fields: [
          field('tokens.full', ['tokens', 'full'], 'ids'),
          field('masks.all_attention_mask', ['masks', 'all_attention_mask'], 'number'),
          field('masks.all_assistant_mask', ['masks', 'all_assistant_mask'], 'mask'),
          scores.full ? logprobs : { ...logprobs, parts: [] },
        ],
        lengths: [{ name: 'rollscope.segment_info', path: ['rollscope', 'segment_info'], tokens: whole }],
      },
    ]
  },
}

const columnsShape = <T extends z.ZodMiniType>(column: T) =>
  z.looseObject({ prompt: z.nullish(column), response: z.nullish(column), full: z.nullish(column) })
const recordSchema = z.looseObject({
  tokens: columnsShape(idsSchema),
  log_probs: z.nullish(columnsShape(logprobsSchema)),
  masks: z.nullish(
    z.looseObject({ all_attention_mask: z.nullish(maskSchema), all_assistant_mask: z.nullish(maskSchema) }),
  ),
})
type Sample = z.infer<typeof recordSchema>

/** The wrappers' output is a batch, whose samples must be separate records. */
const BATCH_HINT =
  'Write each sample of the batch as a separate record: tensors as lists, from td[i].to_dict(). docs/formats.md has the code for it.'

function read(value: unknown, source: RecordSource): Trajectory {
  const sample = parsedAt(recordSchema, value, '', BATCH_HINT)
  const { prompt, response, full } = sample.tokens
  const all = full ?? [...(prompt ?? []), ...(response ?? [])]
  const promptLength = prompt?.length ?? all.length - (response?.length ?? 0)
  const assistant = sample.masks?.all_assistant_mask ?? all.map((_, index) => index >= promptLength)
  const attention = sample.masks?.all_attention_mask ?? all.map(() => true)
  const scores = scoresOf(sample, all.length, promptLength)
  const isWhole = attention.every(Boolean)
  refuseIf(contradictionIn(sample, isWhole))
  const columns = { 'masks.all_assistant_mask': assistant, 'masks.all_attention_mask': attention, log_probs: scores }
  refuseIf(lengthViolation(columns, all.length))
  // Padding does not belong to a rollout.
  const unpadded = <T>(column: readonly T[]) => (isWhole ? column : column.filter((_, index) => attention[index]))
  const ids = unpadded(all)
  return trainedTrajectory(
    NAME,
    {
      sequence: {
        ids,
        promptLength: 0,
        mask: { field: 'masks.all_assistant_mask', entries: unpadded(assistant) },
        logprobs: { field: 'log_probs', entries: scores && unpadded(scores) },
        hasFillers: true,
        own: sample,
      },
      messages: messagesIn(sample.history),
      about: {
        outcome: { kind: 'ended', reason: 'unknown' },
        reward: undefined,
        // TorchRL has no other logprobs, so a file that is written again loses no meaning.
        columnMeanings: {},
        lacked: [
          ...(full || prompt ? [] : ['the prompt: only the response has ids']),
          ...(sample.masks?.all_assistant_mask ? [] : ['loss mask: the whole response counts as trained']),
          ...(ids.length < all.length
            ? [`${all.length - ids.length} tokens that masks.all_attention_mask marks as padding: removed`]
            : []),
        ],
        rest: without(sample, ['tokens', 'log_probs', 'masks', 'rollscope']),
      },
    },
    source,
  )
}

/** Returns a logprob for each token; if only the response has logprobs, the tokens before it have none. */
function scoresOf(
  { log_probs: scores }: Sample,
  length: number,
  promptLength: number,
): z.infer<typeof logprobsSchema> | undefined {
  if (scores?.full) return scores.full
  if (!scores?.response) return undefined
  // If only the response has ids, logprobs of the prompt belong to no token.
  if (length === scores.response.length) return scores.response
  return [...(scores.prompt ?? Array.from({ length: promptLength }, () => null)), ...scores.response]
}

/** `full` equals prompt plus response, unless these are padded separately. */
function contradictionIn({ tokens, log_probs: scores }: Sample, isWhole: boolean): Violation | undefined {
  const { full, prompt, response, padded } = tokens
  if (!full || !isWhole || padded === true) return undefined
  const last = (column: readonly unknown[], count: number) => column.slice(Math.max(0, column.length - count))
  return (
    contradiction([
      ['tokens.full', prompt && full.slice(0, prompt.length)],
      ['tokens.prompt', prompt],
    ]) ??
    contradiction([
      ['tokens.full', response && last(full, response.length)],
      ['tokens.response', response],
    ]) ??
    (prompt && response
      ? lengthViolation({ 'tokens.full': full }, prompt.length + response.length, ' of prompt and response')
      : undefined) ??
    contradiction([
      ['log_probs.full', scores?.full && scores.response && last(scores.full, scores.response.length)],
      ['log_probs.response', scores?.full && scores.response],
    ])
  )
}

/** Reads `history.full`, whose roles and contents are parallel lists. */
function messagesIn(history: unknown): unknown {
  const full = isObject(history) ? history.full : undefined
  if (!isObject(full) || !Array.isArray(full.role) || !Array.isArray(full.content)) return undefined
  const contents: readonly unknown[] = full.content
  return full.role.map((role: unknown, index) => ({ role, content: contents[index] }))
}

function write(trajectory: Trajectory) {
  const { segments, vocab } = trajectory
  const own = trajectory.foreign?.[NAME] ?? {}
  const firstResponse = segments.findIndex(({ kind }) => kind === 'response')
  const before = firstResponse < 0 ? segments : segments.slice(0, firstResponse)
  const split = before.reduce((sum, segment) => sum + segment.ids.length, 0)
  const all = ids(trajectory)
  const mask = lossMask(trajectory)
  const scores = logprobs(trajectory)
  const unscored = scores.filter((score, index) => score === null && mask[index] === 1).length
  const filled = scores.map((score) => score ?? 0)
  const isScored = unscored === 0 && hasLogprobs(segments)
  const hasTexts = all.every((id) => Object.hasOwn(vocab, id))
  const value = {
    ...own,
    ...(hasTexts && {
      text: {
        prompt: textOf(all.slice(0, split), vocab),
        response: textOf(all.slice(split), vocab),
        full: textOf(all, vocab),
      },
    }),
    tokens: { prompt: all.slice(0, split), response: all.slice(split), full: all, padded: false },
    masks: {
      all_attention_mask: all.map(() => true),
      all_assistant_mask: mask.map((bit) => bit === 1),
      padded: false,
    },
    log_probs: {
      prompt: isScored ? filled.slice(0, split) : null,
      response: isScored ? filled.slice(split) : null,
      full: isScored ? filled : null,
      padded: false,
    },
    ...(hasTexts || own.history === undefined ? historyOf(trajectory, before) : { history: own.history }),
    rollscope: { segment_info: segments.map(({ kind, ids }) => [kind === 'response', ids.length] as const) },
  }
  return {
    value,
    losses: [
      ...(unscored > 0
        ? ['logprobs: some trained tokens have none, and a 0 would mean that the model was certain']
        : []),
      ...(hasTexts || own.text !== undefined ? [] : ['texts: no tokenizer was named']),
      ...listDroppedContent(trajectory, ['texts', 'messages']),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

/** Returns nothing if no messages are known: TorchRL has no history either for a run that began with text or ids. */
function historyOf(trajectory: Trajectory, before: readonly Segment[]): { readonly history?: object } {
  const hasMessages = trajectory.segments.some((segment) => segment.kind === 'prompt' && segment.messages.length > 0)
  if (!hasMessages) return {}
  const prompt = historyMessages(trajectory, before)
  const response = historyMessages(trajectory, trajectory.segments.slice(before.length))
  return {
    history: {
      prompt: historyList(prompt),
      response: historyList(response),
      full: historyList([...prompt, ...response]),
    },
  }
}

interface HistoryMessage {
  readonly role: Message['role']
  /** null if the text of the tokens is unknown. */
  readonly content: string | null
}

const historyMessages = (trajectory: Trajectory, segments: readonly Segment[]): HistoryMessage[] =>
  segments.flatMap((segment): HistoryMessage[] => {
    if (segment.kind === 'prompt')
      return segment.messages.map((message) => ({
        role: message.role,
        content: contentText(withResultText(message, trajectory)),
      }))
    const { text, isKnown } = responseTextWithStarts(segment, trajectory)
    return [{ role: 'assistant', content: isKnown ? text : null }]
  })

const contentText = ({ content = '' }: Message): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

const historyList = (messages: readonly HistoryMessage[]): JsonObject => ({
  role: messages.map(({ role }) => role),
  content: messages.map(({ content }) => content),
  is_complete: messages.map(() => true),
  tool_calls: null,
  tool_responses: null,
})
