/** Sessions of Google's Agent Development Kit, and their events: contents of Gemini with an author. */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { geminiField, geminiUsage, messagesOfContents } from '../conversations/gemini.ts'
import { type SessionMessage, sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'

const NAME = 'adk'

/** The format of sessions and of their events. */
export const adk: Format = {
  name: NAME,
  label: 'Google ADK',
  keeps: 'Messages, thoughts, calls, results and counts. Texts only.',
  joins: 'list',
  sniff: (value) => isEvent(value) || isSession(value),
  read: catchRefusals((value, source) => {
    const records = recordsOf(value)
    const events = records
      .filter(({ record }) => !isSession(record))
      .map(({ record, path }) => ({ event: record, path }))
    return [
      ...records.flatMap(({ record, path }) =>
        isSession(record) ? [sessionTrajectory(without(record, ['events']), eventsIn(record, path), source)] : [],
      ),
      ...(events.length > 0 ? [sessionTrajectory(undefined, events, source)] : []),
    ]
  }),
}

interface PlacedEvent {
  readonly event: JsonObject
  readonly path: string
}

const eventsIn = ({ events }: JsonObject, path: string): readonly PlacedEvent[] =>
  objectsIn(events).map((event, index) => ({ event, path: `${path}events[${index}].` }))

function sessionTrajectory(
  session: JsonObject | undefined,
  events: readonly PlacedEvent[],
  source: RecordSource,
): Trajectory {
  const segments = sessionSegments(events.flatMap(({ event, path }) => messagesOf(event, path)))
  const versions = events.map(({ event }) => geminiField(event, 'model_version'))
  return textTrajectory(
    {
      format: NAME,
      segments,
      outcome: outcomeOfMessages(segments),
      model: versions.findLast((version) => typeof version === 'string') as string | undefined,
      createdAt: isoTime(events[0]?.event.timestamp),
      lacked: ['instructions and tools: the agent adds them to each request'],
      rest: { ...session, events: events.map(({ event: { content: _, ...rest } }) => rest) },
    },
    source,
  )
}

const isEvent = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value.author === 'string' && geminiField(value, 'invocation_id') !== undefined

const isSession = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof geminiField(value, 'app_name') === 'string' &&
  Array.isArray(value.events) &&
  value.events.every(isEvent)

/** An event without a content changes only the state. */
function messagesOf(event: JsonObject, path: string): readonly SessionMessage[] {
  const { content } = event
  if (!isObject(content)) return []
  const about = geminiUsage(geminiField(event, 'usage_metadata'))
  return messagesOfContents([content], `${path}content`).map((message) => ({ message, path: `${path}content`, about }))
}
