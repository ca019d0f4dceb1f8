/**
 * Sessions of Codex CLI (`~/.codex/sessions/…/rollout-*.jsonl`): items of the Responses API, and events of the program. Since a compaction
 * the model reads a replaced history, which begins a trajectory of its own.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { usageField } from '../replies/chat-reply.ts'

const NAME = 'codex'

/** The format of Codex CLI. */
export const codex: Format = {
  name: NAME,
  label: 'Codex CLI',
  keeps: 'Instructions, messages, reasoning, calls, results and counts. Texts only.',
  joins: true,
  sniff: (value) =>
    isObject(value) && typeof value.timestamp === 'string' && typeof value.type === 'string' && isObject(value.payload),
  read: catchRefusals((value, source) => {
    const session = sessionIn(value)
    return session.histories.map((items, number) => historyTrajectory(items, session, number, source))
  }),
}

interface Item {
  readonly item: JsonObject
  readonly path: string
  /** Counts of the reply that it ends. */
  usage: JsonObject | undefined
}

interface Session {
  readonly meta: JsonObject
  /** Lists of items: another one begins with each compaction. */
  readonly histories: readonly (readonly Item[])[]
  readonly model: string | undefined
  readonly createdAt: string | undefined
  readonly outcome: Outcome | undefined
  readonly others: readonly JsonObject[]
}

function sessionIn(value: unknown): Session {
  const histories: Item[][] = [[]]
  const others: JsonObject[] = []
  let meta: JsonObject = {}
  let model: string | undefined
  let createdAt: string | undefined
  let outcome: Outcome | undefined
  for (const { record, path } of recordsOf(value)) {
    const { type, timestamp, payload } = record
    const content = isObject(payload) ? payload : {}
    createdAt ??= isoText(timestamp)
    if (typeof content.model === 'string') model = content.model
    outcome = outcomeOf(content.type) ?? outcome
    const current = histories.at(-1)
    if (type === 'response_item' && isReadItem(content))
      current?.push({ item: content, path: `${path}payload`, usage: undefined })
    else if (type === 'session_meta' && Object.keys(meta).length === 0) meta = content
    else if (type === 'compacted') {
      const { replacement_history: items, ...rest } = content
      others.push({ ...record, payload: rest })
      if (Array.isArray(items))
        histories.push(
          items.flatMap((item: unknown, index) =>
            isReadItem(item) ? [{ item, path: `${path}payload.replacement_history[${index}]`, usage: undefined }] : [],
          ),
        )
    } else {
      const usage = usageIn(content)
      // The event may follow the results of the calls.
      const last = current?.findLast(({ item }) => isOfModel(item))
      if (usage && last) last.usage = usage
      others.push(record)
    }
  }
  return { meta, histories: histories.filter((items) => items.length > 0), model, createdAt, outcome, others }
}

/** The program also stores items that no model reads, such as snapshots of the repository. */
const isReadItem = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value.type === 'string' && /^(message|reasoning|.*_(call|output))$/.test(value.type)

const isOfModel = ({ type, role }: JsonObject): boolean =>
  role === 'assistant' || /^reasoning$|_call$/.test(String(type))

/** Returns the counts of a reply in chat completions' words, from the event after its last item. */
function usageIn({ type, info }: JsonObject): JsonObject | undefined {
  const usage = type === 'token_count' && isObject(info) ? info.last_token_usage : undefined
  if (!isObject(usage)) return undefined
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
  }
}

function outcomeOf(event: unknown): Outcome | undefined {
  if (event === 'task_complete') return { kind: 'ended', reason: 'end_turn' }
  if (event === 'turn_aborted') return { kind: 'ended', reason: 'cancelled' }
  return event === 'task_started' ? { kind: 'ended', reason: 'unknown' } : undefined
}

function historyTrajectory(items: readonly Item[], session: Session, number: number, source: RecordSource): Trajectory {
  const { meta, histories, model, createdAt, outcome, others } = session
  const instructions = isObject(meta.base_instructions) ? meta.base_instructions.text : meta.instructions
  const system =
    typeof instructions === 'string' ? [{ message: { role: 'system', content: instructions }, path: '' }] : []
  const replies = messagesOfItems(items.map(({ item }) => item))
  const messages = replies.map(({ message, index }, place) => {
    const own = items.slice(index, replies[place + 1]?.index)
    const usage = own.findLast((one) => one.usage)?.usage
    return { message: message as JsonObject, path: elementAt(items, index).path, about: usageField(usage ?? {}) }
  })
  const segments = sessionSegments([...system, ...messages])
  const isLast = number === histories.length - 1
  return textTrajectory(
    {
      format: NAME,
      segments,
      outcome: (isLast ? outcome : undefined) ?? outcomeOfMessages(segments),
      model,
      createdAt,
      lacked: ['tools: Codex CLI adds them to each request'],
      rest: {
        ...without(meta, ['base_instructions', 'instructions']),
        ...(number === 0 && others.length > 0 && { otherLines: others }),
      },
    },
    source,
  )
}
