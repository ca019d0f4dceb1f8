/** Agent Lightning: the events of its gateway, one for each request and reward, and the triplets that its adapter makes for a trainer. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import { idsSchema } from '../columns.ts'
import { foreignTrajectory, isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { chatCalls } from '../replies/chat-reply.ts'
import { type ModelCall, timedCall } from '../replies/model-call.ts'
import { replyColumns } from '../replies/reply-columns.ts'
import { sameIds } from '../replies/reply-ids.ts'
import { entriesOf } from '../replies/token-entries.ts'

const EVENTS = 'agent-lightning-events'

/** The format of events. */
export const agentLightningEvents: Format = {
  name: EVENTS,
  label: 'Agent Lightning events',
  keeps: 'Ids, logprobs, messages, tools and times of each request, and the reward of the attempt.',
  joins: true,
  sniff: (value) => isObject(value) && typeof value.event_type === 'string' && 'rollout_id' in value,
  read: catchRefusals((value, source) => {
    const events = Array.isArray(value) ? value.filter(isObject) : [value as JsonObject]
    const attempts = Map.groupBy(events, ({ rollout_id, attempt_id }) => JSON.stringify([rollout_id, attempt_id]))
    return [...attempts.values()].flatMap((attempt) => {
      const calls = attempt.flatMap((event, index) => callOf(event, `[${index}].data.response`) ?? [])
      if (calls.length === 0) return []
      const rewards = attempt.flatMap(({ event_type, data }) =>
        event_type === 'reward' && isObject(data) ? [data] : [],
      )
      const [first] = attempt
      const reward = rewards.at(-1)?.value
      return trajectoriesOfCalls(
        calls,
        {
          format: EVENTS,
          reward: typeof reward === 'number' ? reward : undefined,
          rest: storable({ rollout_id: first?.rollout_id, attempt_id: first?.attempt_id, rewards }),
        },
        source,
      )
    })
  }),
}

function callOf({ event_type, timestamp, data }: JsonObject, path: string): ModelCall | undefined {
  if (event_type !== 'model_request' || !isObject(data) || !isChatReply(data.response)) return undefined
  const [call] = chatCalls(data.response, isObject(data.request) ? data.request : undefined, path)
  return call && timedCall(call, isoTime(timestamp), data.latency_ms)
}

const TRIPLET = 'agent-lightning-triplet'

/** The format of triplets. */
export const agentLightningTriplet: Format = {
  name: TRIPLET,
  label: 'Agent Lightning triplets',
  keeps: 'Ids of prompt and response, logprobs, reward.',
  sniff: (value) => isObject(value) && hasIds(value.prompt) && hasIds(value.response),
  read: catchRefusals((value, source) => {
    const { prompt, response, reward, ...others } = value as Record<'prompt' | 'response', JsonObject> & JsonObject
    const promptIds = parsedAt(idsSchema, prompt.token_ids, 'prompt.token_ids')
    const logprobs = Array.isArray(response.logprobs) ? response.logprobs : []
    const { vocab, lacked, isWhole, problems, ...tokens } = replyColumns({
      ids: sameIds([['response.token_ids', response.token_ids]]),
      entries: entriesOf(
        logprobs.map((entry: unknown) => (isObject(entry) ? entry : { logprob: entry })),
        'response.logprobs',
      ),
      paths: { ids: 'response.token_ids', entries: 'response.logprobs' },
    })
    const hasLogprobs = tokens.logprobs !== undefined
    const rest = {
      ...others,
      ...without(
        {
          prompt: without(prompt, ['token_ids']),
          response: without(response, isWhole ? ['token_ids', 'logprobs'] : ['token_ids']),
        },
        [],
      ),
    }
    return [
      foreignTrajectory(
        {
          format: TRIPLET,
          segments: [
            { kind: 'prompt', ids: promptIds, messages: [] },
            { kind: 'response', ...tokens, thinks: [], toolCalls: [], ...(problems && { problems }) },
          ],
          outcome: { kind: 'ended', reason: 'unknown' },
          reward,
          vocab,
          lacked: ['messages', 'outcome', ...lacked],
          missing: [
            'texts',
            'messages',
            ...(hasLogprobs ? (['logprob_values', 'temperature'] as const) : (['logprobs'] as const)),
          ],
          ...(hasLogprobs && { columnMeanings: { logprobs: { quantity: 'logprob', model: 'rollout' } } }),
          rest: without(JSON.parse(JSON.stringify(rest)) as JsonObject, []),
        },
        source,
      ),
    ]
  }),
}

const hasIds = (value: unknown): boolean => isObject(value) && Array.isArray(value.token_ids)
