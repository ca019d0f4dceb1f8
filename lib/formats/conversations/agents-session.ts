/**
 * Sessions of the OpenAI Agents SDK: the rows of `agent_messages` in the database of a SQLiteSession or SQLAlchemySession. Each row has an
 * item of a conversation.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'openai-agents-session'

/** The format of the rows. Each session is a trajectory. */
export const agentsSession: Format = {
  name: NAME,
  label: 'sessions of the OpenAI Agents SDK',
  keeps: 'Messages, reasoning, calls and results; the session id as title. Texts only.',
  joins: true,
  sniff: isRow,
  read: catchRefusals((value, source) => {
    const rows = [value].flat().filter(isRow)
    const sessions = Map.groupBy(
      rows.map((row, index) => ({ row, index })),
      ({ row }) => row.session_id,
    )
    return Array.from(sessions, ([title, own]) => {
      const ordered = own.toSorted((a, b) => Number(a.row.id) - Number(b.row.id))
      const segments = conversationSegments(
        ordered.map(({ row }) => row.message_data),
        (index) => `[${elementAt(ordered, index).index}].message_data`,
      )
      const createdAt = isoText(`${elementAt(ordered, 0).row.created_at}Z`)
      const sample = { format: NAME, segments, outcome: outcomeOfMessages(segments), createdAt, rest: undefined }
      return { ...textTrajectory(sample, source), title }
    })
  }),
}

interface SessionRow extends JsonObject {
  readonly session_id: string
  readonly message_data: JsonObject
}

function isRow(value: unknown): value is SessionRow {
  return isObject(value) && typeof value.session_id === 'string' && isObject(value.message_data)
}
