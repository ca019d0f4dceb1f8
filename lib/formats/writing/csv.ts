/** A table with one row for each trajectory: labels, totals, and the texts of the first question and the last reply. */
import { outcomeWord } from '#lib/api/sample-progress.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { callTotal, statistics } from '#lib/trajectory/tokens/statistics.ts'
import { type CsvCell, csv } from '#lib/util/text/csv.ts'
import { chatMessagesBySegment } from './chat-messages.ts'
import type { Writer } from './writer.ts'

/** Writes CSV. */
export const csvWriter: Writer = {
  name: 'csv',
  label: 'CSV',
  keeps: 'One row for each trajectory: labels, reward, outcome, totals, first question and last reply. No tokens.',
  takesMessagesOnly: true,
  write: (trajectory) => ({
    value: rowOf(trajectory),
    losses: ['every token with its columns', 'all messages but the first question and the last reply'],
  }),
  encoding: {
    extension: 'csv',
    mediaType: 'text/csv; charset=utf-8',
    encoder() {
      const texts = new TextEncoder()
      let head: readonly CsvCell[][] = [[...COLUMNS]]
      const take = (rows: readonly CsvCell[][]) => {
        const part = texts.encode(csv([...head, ...rows]))
        head = []
        return part
      }
      return {
        add: (record) => take([COLUMNS.map((column) => (record as ReturnType<typeof rowOf>)[column])]),
        end: () => take([]),
      }
    },
  },
}

const COLUMNS = [
  ...(['id', 'created_at', 'title', 'tags', 'note', 'group', 'sample', 'model', 'reward', 'outcome'] as const),
  ...([
    'tokens',
    'trained_tokens',
    'mean_logprob',
    'turns',
    'tool_calls',
    'failed_calls',
    'question',
    'reply',
  ] as const),
] as const

function rowOf(trajectory: Trajectory): Readonly<Record<(typeof COLUMNS)[number], CsvCell>> {
  const { id, createdAt, title, tags = [], note, group, model, reward, outcome, segments } = trajectory
  const { tokens, trained, meanLogprob, toolCalls } = statistics(trajectory)
  const messages = chatMessagesBySegment(trajectory).flat()
  return {
    id,
    created_at: createdAt,
    title,
    tags: tags.join(' '),
    note,
    group: group?.id,
    sample: group?.index,
    model: model.name,
    reward,
    outcome: outcomeWord(outcome),
    tokens,
    trained_tokens: trained,
    mean_logprob: meanLogprob,
    turns: segments.filter(({ kind }) => kind === 'response').length,
    tool_calls: toolCalls && callTotal(toolCalls),
    failed_calls: toolCalls && toolCalls.failed + toolCalls.malformed,
    question: messages.find(({ role }) => role === 'user')?.content,
    reply: messages.findLast(({ role }) => role === 'assistant')?.content,
  }
}
