/**
 * Builds the list row of a trajectory. Its columns have two writers: the record, which is updated with every segment, and
 * the labels. Neither changes the other's columns.
 */

import type { TrajectorySummary } from '#lib/api/library.ts'
import { outcomeWord } from '#lib/api/sample-progress.ts'
import { forkKinds } from '#lib/trajectory/format/fork-kinds.ts'
import { type Labels, labelsOf, withNotesInside } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { trainedSpans } from '#lib/trajectory/health/trained-spans.ts'
import { firstQuestion } from '#lib/trajectory/messages/first-question.ts'
import { callTotal, statistics } from '#lib/trajectory/tokens/statistics.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { HEALTH_COLUMN, healthGist } from './health.ts'
import { foldCase } from './listing/fold-case.ts'

/** Columns that `summary` needs. */
export const SUMMARY_COLUMNS = `sequence, key, id, created_at, added_at, labels, question, model, outcome_kind, outcome, source, import_format, missing, is_encoded_again, segments, turns, tokens, trained, mean_logprob, tool_calls, failed_calls, group_id, group_index, group_server, forked_from, fork_token, fork_kind, reward_why, ${HEALTH_COLUMN}`

const SHOWN_QUESTION = 120
/** Only the beginning of a long question is searched, because prompts may contain whole documents. */
const SEARCHED_QUESTION = 4000
/** Longest part of a title that is compared in sorting. */
const SORTED_TITLE = 120

/** Returns the columns that follow from the record. */
export function recordColumns(trajectory: Trajectory) {
  const { tokens, trained, meanLogprob, toolCalls } = statistics(trajectory)
  const { provenance, model, outcome, segments } = trajectory
  // Imported files number their groups independently: the column `import_group` has them.
  const group = provenance.kind === 'import' ? undefined : trajectory.group
  const file = provenance.kind === 'import' ? (provenance.file ?? '') : ''
  const opening = firstQuestion(trajectory, SEARCHED_QUESTION)
  const question = opening.trim() === '' ? file : opening
  const word = outcomeWord(outcome)
  return {
    id: trajectory.id,
    created_at: trajectory.createdAt,
    question: beginningOf(question, SHOWN_QUESTION),
    question_sort: sortKey(question),
    model: model.name ?? null,
    outcome_kind: outcome.kind,
    outcome: word,
    source: provenance.kind,
    import_format: provenance.kind === 'import' ? provenance.format : null,
    missing: provenance.kind === 'import' && provenance.missing?.length ? JSON.stringify(provenance.missing) : null,
    is_encoded_again: provenance.kind === 'import' && provenance.encodedAgain ? 1 : 0,
    segments: segments.length,
    turns: segments.filter(({ kind }) => kind === 'response').length,
    tokens,
    trained,
    mean_logprob: meanLogprob,
    tool_calls: toolCalls && callTotal(toolCalls),
    failed_calls: toolCalls && toolCalls.failed + toolCalls.malformed,
    group_id: group?.id ?? null,
    group_index: trajectory.group?.index ?? null,
    group_server: group?.server ?? null,
    forked_from: trajectory.forkedFrom?.trajectory ?? null,
    fork_token: trajectory.forkedFrom?.token ?? null,
    fork_kind: trajectory.forkedFrom?.kind ?? null,
    trained_spans: JSON.stringify(trainedSpans(segments)),
    record_search: foldCase([opening.slice(0, SEARCHED_QUESTION), model.name ?? '', word, file].join('\n')),
  }
}

/** Returns the columns that follow from the labels. */
export function labelColumns(labels: Labels) {
  const { title, tags = [], note = '', notes = [], reward } = labels
  return {
    labels: JSON.stringify(labelsOf(labels)),
    title_sort: sortKey(title ?? ''),
    reward: reward ?? null,
    labels_search: foldCase([title ?? '', ...tags, note, ...notes.map(({ text }) => text)].join('\n')),
  }
}

/** Converts a row with SUMMARY_COLUMNS to a row of the library. */
export function summary(row: Readonly<Record<string, unknown>>): TrajectorySummary {
  const labels = labelsIn(row)
  return {
    key: String(row.key),
    id: String(row.id),
    createdAt: String(row.created_at),
    addedAt: String(row.added_at),
    title: labels.title ?? null,
    question: String(row.question),
    tags: labels.tags ?? [],
    note: labels.note ?? null,
    reward: labels.reward ?? null,
    model: row.model === null ? null : String(row.model),
    outcomeKind: row.outcome_kind as TrajectorySummary['outcomeKind'],
    outcome: String(row.outcome),
    source: row.source as TrajectorySummary['source'],
    importFormat: row.import_format === null ? null : String(row.import_format),
    missing: row.missing === null ? [] : (JSON.parse(String(row.missing)) as TrajectorySummary['missing']),
    isEncodedAgain: row.is_encoded_again === 1,
    segments: Number(row.segments),
    turns: Number(row.turns),
    tokens: Number(row.tokens),
    trained: Number(row.trained),
    meanLogprob: row.mean_logprob === null ? null : Number(row.mean_logprob),
    toolCalls: row.tool_calls === null ? null : Number(row.tool_calls),
    failedCalls: row.failed_calls === null ? null : Number(row.failed_calls),
    group:
      row.group_id === null
        ? null
        : {
            id: String(row.group_id),
            index: Number(row.group_index),
            ...(row.group_server !== null && { server: String(row.group_server) }),
          },
    fork: forkIn(row),
    rewardWhy: row.reward_why === null ? null : String(row.reward_why),
    health: healthGist(row),
  }
}

/** Returns the fork of a row. A header that could not be read when the columns were added has none. */
function forkIn(row: Readonly<Record<string, unknown>>): TrajectorySummary['fork'] {
  const kind = forkKinds.find((name) => name === row.fork_kind)
  return kind ? { from: String(row.forked_from), token: Number(row.fork_token), kind } : null
}

/** Returns all labels of a row, which has the column `labels`. */
export const labelsIn = (row: Readonly<Record<string, unknown>>): Labels => JSON.parse(String(row.labels)) as Labels

/** Returns the labels of a row that also has the column `tokens`, without the notes on tokens that a repair has removed. */
export const visibleLabelsIn = (row: Readonly<Record<string, unknown>>): Labels =>
  withNotesInside(labelsIn(row), Number(row.tokens))

/** Returns the beginning of a text as it is compared in sorting; null if it is empty. */
function sortKey(text: string): string | null {
  const key = foldCase(text.slice(0, SORTED_TITLE)).trim()
  return key === '' ? null : key
}
