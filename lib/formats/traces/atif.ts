/**
 * Harbor's trajectories (ATIF 1.0 to 1.8): one step for each message, and for each call of the model its sampled ids, their
 * logprobs and its whole prompt. Prompts that continue all earlier tokens form one sequence, as in Harbor's own flattening.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Message, Problem, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { hasLogprobs, idsSchema, logprobsSchema, maskBits, maskSchema } from '../columns.ts'
import { foreignTrajectory } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { readMessages, readTools } from '../messages.ts'
import { meaningOf } from '../number-columns.ts'
import { catchRefusals, joinedPath, parsedAt } from '../reading/record-error.ts'
import { type JoinedTurns, joinTurns, type Turn } from '../turns.ts'

const NAME = 'atif'

/** The format of Harbor's trajectories. */
export const atif: Format = {
  name: NAME,
  label: 'Harbor (ATIF)',
  keeps: 'Ids and logprobs of each step, messages, tools and usage.',
  sniff: (value) =>
    isObject(value) && typeof value.schema_version === 'string' && value.schema_version.startsWith('ATIF-'),
  read: catchRefusals((value, source) => trajectoriesIn(value, '', source)),
}

const count = z.int().check(z.minimum(0))
const contentSchema = z.nullish(z.union([z.string(), z.array(z.looseObject({}))]))
const stepSchema = z.looseObject({
  source: z.enum(['system', 'user', 'agent']),
  timestamp: z.nullish(z.string()),
  message: contentSchema,
  reasoning_content: z.nullish(z.string()),
  tool_calls: z.nullish(
    z.array(
      z.looseObject({
        tool_call_id: z.nullish(z.string()),
        function_name: z.string(),
        arguments: z.nullish(z.unknown()),
      }),
    ),
  ),
  observation: z.nullish(
    z.looseObject({
      results: z.nullish(z.array(z.looseObject({ source_call_id: z.nullish(z.string()), content: contentSchema }))),
    }),
  ),
  metrics: z.nullish(
    z.looseObject({
      prompt_tokens: z.nullish(count),
      completion_tokens: z.nullish(count),
      cached_tokens: z.nullish(count),
      prompt_token_ids: z.nullish(idsSchema),
      completion_token_ids: z.nullish(idsSchema),
      logprobs: z.nullish(logprobsSchema),
    }),
  ),
  is_copied_context: z.nullish(z.boolean()),
  llm_call_count: z.nullish(count),
})
const trajectorySchema = z.looseObject({
  agent: z.looseObject({ model_name: z.nullish(z.string()) }),
  steps: z.array(stepSchema).check(z.minLength(1)),
  subagent_trajectories: z.nullish(z.array(z.unknown())),
})
type Step = z.infer<typeof stepSchema>
type AtifTrajectory = z.infer<typeof trajectorySchema>

function trajectoriesIn(value: unknown, path: string, source: RecordSource): readonly Trajectory[] {
  const record = parsedAt(trajectorySchema, value, path)
  const inner = (record.subagent_trajectories ?? []).flatMap((subagent, number) =>
    trajectoriesIn(subagent, joinedPath(path, `subagent_trajectories[${number}]`), source),
  )
  return [...sequencesOf(record, source), ...inner]
}

function sequencesOf(record: AtifTrajectory, source: RecordSource): readonly Trajectory[] {
  const hasIds = record.steps.some(({ metrics }) => metrics?.completion_token_ids)
  const { turns, messages, unsampled } = turnsOf(record.steps, hasIds)
  const sequences = joinTurns(turns, source.newId)
  const own = ownFields(record)
  const tools = readTools((record.agent as JsonObject).tool_definitions)
  return sequences.map((sequence, number): Trajectory => {
    const isLast = sequence.turns.includes(turns.length - 1)
    const unsent = isLast ? messages.slice(elementAt(turns, turns.length - 1).messages.length + 1) : []
    return foreignTrajectory(
      {
        format: NAME,
        segments: own.tokens ? withMask(sequence.segments, own.tokens) : sequence.segments,
        outcome: { kind: 'ended', reason: 'unknown', ...(unsent.length > 0 && { unsent }) },
        reward: isLast ? own.reward : undefined,
        ...(own.group && { group: own.group }),
        lacked: lackedIn(sequence, record, own, { hasIds, unsampled }),
        missing: [...(own.tokens ? [] : ['mask' as const]), ...(hasIds ? [] : ['ids' as const])],
        createdAt: record.steps.map(({ timestamp }) => timestamp).find((time) => typeof time === 'string') ?? undefined,
        modelName: record.agent.model_name ?? undefined,
        tools,
        columnMeanings: {
          ...(hasLogprobs(sequence.segments) && { logprobs: meaningOf('logprobs', 'steps[].metrics.logprobs') }),
        },
        forkedFrom: sequence.forkedFrom,
        // Once for all sequences of the file.
        rest: number === 0 ? without(record, ['steps', 'subagent_trajectories']) : undefined,
      },
      source,
      sequence.id,
    )
  })
}

/** What a file that Rollscope wrote has beside ATIF's own fields: ATIF has no reward, group and loss mask. */
interface OwnFields {
  readonly reward: number | undefined
  readonly group: Trajectory['group']
  readonly tokens: { readonly ids: readonly number[]; readonly mask: readonly (0 | 1)[] } | undefined
}

const ownSchema = z.looseObject({
  session_id: z.nullish(z.string()),
  extra: z.object({
    rollscope: z.object({
      token_ids: z.optional(idsSchema),
      loss_mask: z.optional(maskSchema),
      reward: z.optional(z.number()),
      sample: z.optional(count),
    }),
  }),
})

function ownFields(record: AtifTrajectory): OwnFields {
  const parsed = ownSchema.safeParse(record)
  if (!parsed.success) return { reward: undefined, group: undefined, tokens: undefined }
  const { session_id: id, extra } = parsed.data
  const { token_ids: ids, loss_mask: mask, reward, sample: index } = extra.rollscope
  return {
    reward,
    group: typeof id === 'string' && index !== undefined ? { id, index } : undefined,
    tokens: ids && mask?.length === ids.length ? { ids, mask: maskBits(mask) } : undefined,
  }
}

/** Returns the segments with their part of a mask. Segments with other ids have the mask of their kind. */
function withMask(segments: readonly Segment[], { ids, mask }: NonNullable<OwnFields['tokens']>): readonly Segment[] {
  const own = segments.flatMap((segment) => segment.ids)
  if (commonIds(own, ids) < own.length) return segments
  let start = 0
  return segments.map((segment) => {
    const part = mask.slice(start, start + segment.ids.length)
    start += segment.ids.length
    const usual = segment.kind === 'response' ? 1 : 0
    return part.every((bit) => bit === usual) ? segment : { ...segment, mask: part }
  })
}

function lackedIn(
  { segments }: JoinedTurns,
  record: AtifTrajectory,
  own: OwnFields,
  { hasIds, unsampled }: { readonly hasIds: boolean; readonly unsampled: number },
): readonly string[] {
  const hasPrompts = record.steps.some(({ metrics }) => metrics?.prompt_token_ids)
  return [
    ...(hasIds ? [] : ['token ids']),
    ...(hasIds && !hasPrompts ? ['token ids of the prompts'] : []),
    ...(unsampled > 0 ? [`token ids of ${countWithNoun(unsampled, 'step')} of the agent`] : []),
    ...(hasLogprobs(segments) ? ['logprobs of the prompts'] : ['logprobs']),
    ...(own.tokens ? [] : ['loss mask: what the model sampled counts as trained']),
    ...(own.reward === undefined ? ['reward'] : []),
    'outcome',
  ]
}

interface Turns {
  readonly turns: readonly Turn[]
  /** All messages of the file. */
  readonly messages: readonly Message[]
  /** Number of the agent's steps without ids in a file that has ids. */
  readonly unsampled: number
}

function turnsOf(steps: readonly Step[], hasIds: boolean): Turns {
  const turns: Turn[] = []
  const messages: Message[] = []
  let unsampled = 0
  /** The turn before. Its ids are the prompt of a turn without prompt ids. */
  let before: Pick<Turn, 'prompt' | 'response'> = { prompt: [], response: [] }
  for (const step of steps) {
    const message = messageOf(step)
    if (step.source === 'agent') {
      const response = step.metrics?.completion_token_ids ?? []
      if (hasIds && !step.metrics?.completion_token_ids) unsampled++
      else {
        const prompt = step.metrics?.prompt_token_ids ?? before.prompt.concat(before.response)
        turns.push(turnOf(step, { prompt, response, messages: [...messages], message }))
        before = { prompt, response }
      }
    }
    messages.push(...readAll([message]), ...resultsOf(step))
  }
  return { turns, messages, unsampled }
}

function messageOf({ source, message, reasoning_content, tool_calls }: Step): JsonObject {
  const content = message ?? ''
  if (source !== 'agent') return { role: source, content }
  return {
    role: 'assistant',
    content,
    ...(typeof reasoning_content === 'string' && { reasoning_content }),
    ...(tool_calls && {
      tool_calls: tool_calls.map(({ tool_call_id, function_name, arguments: input }) => ({
        ...(typeof tool_call_id === 'string' && { id: tool_call_id }),
        type: 'function',
        function: { name: function_name, arguments: JSON.stringify(input ?? {}) },
      })),
    }),
  }
}

const resultsOf = ({ observation }: Step): readonly Message[] =>
  readAll(
    (observation?.results ?? []).map(({ source_call_id, content }) => ({
      role: 'tool',
      ...(typeof source_call_id === 'string' && { tool_call_id: source_call_id }),
      content: content ?? '',
    })),
  )

/** The schema of a step has only roles and contents that can be read. */
const readAll = (messages: readonly JsonObject[]): readonly Message[] => readMessages(messages) as readonly Message[]

function turnOf(
  { metrics, is_copied_context, llm_call_count }: Step,
  {
    prompt,
    response,
    messages,
    message,
  }: Pick<Turn, 'prompt' | 'response' | 'messages'> & { readonly message: JsonObject },
): Turn {
  const problems: Problem[] = []
  const read = metrics?.prompt_token_ids
  if (read && typeof metrics.prompt_tokens === 'number' && metrics.prompt_tokens !== read.length)
    problems.push({
      kind: 'count',
      message: `The server counted ${countWithNoun(metrics.prompt_tokens, 'prompt token')}, and the file has ${read.length}.`,
    })
  if (typeof llm_call_count === 'number' && llm_call_count > 1)
    problems.push({
      kind: 'file',
      message: `The step combines ${llm_call_count} calls of the model; its numbers may be those of several.`,
    })
  return {
    prompt,
    response,
    columns: {
      logprobs: metrics?.logprobs,
      // Copied steps were trained with the trajectory that they were copied from.
      mask: is_copied_context === true ? response.map(() => 0 as const) : undefined,
    },
    messages,
    about: { message, ...(metrics && { usage: usageOf(metrics) }) },
    problems,
  }
}

function usageOf(metrics: NonNullable<Step['metrics']>): NonNullable<ResponseSegment['usage']> {
  const { prompt_tokens, completion_tokens, cached_tokens } = metrics
  return {
    ...(typeof prompt_tokens === 'number' && { promptTokens: prompt_tokens }),
    ...(typeof completion_tokens === 'number' && { completionTokens: completion_tokens }),
    ...(typeof cached_tokens === 'number' && { cachedTokens: cached_tokens }),
  }
}
