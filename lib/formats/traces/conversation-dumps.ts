/**
 * Dumps of conversations: the trajectories of miles' dashboard, the evaluations of SkyRL, and the results of verifiers. Only the
 * latter may have ids, those of the calls in `trajectory`.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Message, Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { hasLogprobs, idsSchema, logprobsSchema, maskBits, maskSchema } from '../columns.ts'
import { type ForeignContent, foreignTrajectory } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readMessages } from '../messages.ts'
import { meaningOf } from '../number-columns.ts'
import { catchRefusals, parsedAt, refuseIf } from '../reading/record-error.ts'
import { skyrlOutcome } from '../trainers/skyrl.ts'
import { joinTurns, type Turn } from '../turns.ts'

const hasAll =
  (...keys: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && keys.every((key) => key in value)

const milesSchema = z.looseObject({
  sample_index: z.int().check(z.minimum(0)),
  group_index: z.nullish(z.int()),
  status: z.nullish(z.string()),
  messages: z.array(z.unknown()),
})

/** The format of the trajectories of miles' dashboard. */
export const milesTrajectory: Format = {
  name: 'miles-trajectory',
  label: 'miles dashboard trajectory',
  keeps: 'Messages, reward, status and group.',
  sniff: hasAll('sample_index', 'status', 'messages'),
  read: catchRefusals((value, source) => {
    const record = parsedAt(milesSchema, value, '')
    const { sample_index: index, group_index: group, status, messages, reward } = record
    return conversation('miles-trajectory', turnsOf(messages, 'messages'), source, {
      outcome: STATUSES.get(status ?? '') ?? UNKNOWN,
      reward,
      ...(typeof group === 'number' && { group: { id: String(group), index } }),
      rest: without(record, ['messages', 'reward', 'group_index', 'sample_index', 'status']),
    })
  }),
}

const UNKNOWN: Outcome = { kind: 'ended', reason: 'unknown' }
const STATUSES: ReadonlyMap<string, Outcome> = new Map([
  ['completed', { kind: 'ended', reason: 'end_turn' }],
  ['truncated', { kind: 'ended', reason: 'truncated' }],
  ['aborted', { kind: 'ended', reason: 'aborted' }],
])

const skyrlSchema = z.looseObject({ input_prompt: z.unknown(), output_response: z.string() })

/** The format of SkyRL's dumped evaluations. */
export const skyrlEval: Format = {
  name: 'skyrl-eval',
  label: 'SkyRL evaluation',
  keeps: 'Texts, score and stop reason.',
  sniff: hasAll('input_prompt', 'output_response', 'score'),
  read: catchRefusals((value, source) => {
    const record = parsedAt(skyrlSchema, value, '')
    const { input_prompt: prompt, output_response: content, score, stop_reason: reason } = record
    const messages = Array.isArray(prompt) ? prompt : [{ role: 'user', content: prompt }]
    return conversation('skyrl-eval', turnsOf([...messages, { role: 'assistant', content }], ''), source, {
      outcome: skyrlOutcome(reason),
      // SkyRL writes a score, or one for each token.
      reward: Array.isArray(score) ? score.reduce<number>((sum, each) => sum + Number(each), 0) : score,
      rest: without(record, ['input_prompt', 'output_response', 'score']),
    })
  }),
}

const resultSchema = z.looseObject({
  example_id: z.union([z.string(), z.number()]),
  trajectory: z.nullish(
    z.array(
      z.looseObject({
        tokens: z.nullish(
          z.looseObject({
            prompt_ids: idsSchema,
            completion_ids: idsSchema,
            completion_mask: z.nullish(maskSchema),
            completion_logprobs: z.nullish(logprobsSchema),
          }),
        ),
      }),
    ),
  ),
})

/** The format of verifiers' results (`results.jsonl`, before traces). */
export const verifiersResults: Format = {
  name: 'verifiers-results',
  label: 'verifiers results',
  keeps: 'Messages, reward and group; ids and logprobs if the file has the trajectory.',
  sniff: hasAll('example_id', 'completion', 'reward'),
  read: catchRefusals((value, source) => {
    const record = parsedAt(resultSchema, value, '')
    const { example_id: id, prompt, completion, reward, is_truncated, trajectory } = record
    const calls = (trajectory ?? []).flatMap(({ tokens }): readonly Turn[] =>
      tokens
        ? [
            {
              prompt: tokens.prompt_ids,
              response: tokens.completion_ids,
              columns: {
                mask: tokens.completion_mask ? maskBits(tokens.completion_mask) : undefined,
                logprobs: tokens.completion_logprobs,
              },
              messages: [],
              about: {},
            },
          ]
        : [],
    )
    const turns =
      calls.length > 0
        ? calls
        : turnsOf([...asMessages(prompt, 'user'), ...asMessages(completion, 'assistant')], 'completion')
    return conversation('verifiers-results', turns, source, {
      outcome: { kind: 'ended', reason: is_truncated === true ? 'truncated' : 'unknown' },
      reward,
      group: nextGroupMember(source, String(id)),
      rest: without(record, ['reward', 'trajectory', ...(calls.length > 0 ? [] : ['prompt', 'completion'])]),
    })
  }),
}

const asMessages = (value: unknown, role: string): readonly unknown[] =>
  Array.isArray(value) ? value : [{ role, content: value }]

/**
 * Each message of the model is a call without ids. Messages that cannot be read are left out of the prompts. Without a message of the model
 * the record is refused at `path`.
 */
function turnsOf(values: readonly unknown[], path: string): readonly Turn[] {
  const turns: Turn[] = []
  const messages: Message[] = []
  for (const value of values) {
    if (isObject(value) && value.role === 'assistant')
      turns.push({
        prompt: [],
        response: [],
        columns: { mask: undefined, logprobs: undefined },
        messages: [...messages],
        about: { message: value as JsonObject },
      })
    messages.push(...(readMessages([value]) ?? []))
  }
  if (turns.length === 0) refuseIf({ path, expected: 'a message of the model', found: 'none' })
  return turns
}

function conversation(
  format: string,
  turns: readonly Turn[],
  source: RecordSource,
  about: Pick<ForeignContent, 'outcome' | 'reward' | 'rest'> & { readonly group?: Trajectory['group'] },
): readonly Trajectory[] {
  const hasIds = turns.some(({ response }) => response.length > 0)
  return joinTurns(turns, source.newId).map(({ segments, forkedFrom, id }) =>
    foreignTrajectory(
      {
        format,
        ...about,
        segments,
        lacked: hasIds ? [] : ['token ids, logprobs and loss mask'],
        missing: hasIds ? [] : ['mask', 'ids'],
        columnMeanings: {
          ...(hasLogprobs(segments) && {
            logprobs: meaningOf('logprobs', 'trajectory[].tokens.completion_logprobs'),
          }),
        },
        forkedFrom,
      },
      source,
      id,
    ),
  )
}
