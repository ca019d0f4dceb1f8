/** A row of the list of a file's samples: what the list shows of a trajectory, and where its record is in the file. */
import type { TrajectorySummary } from '#lib/api/library.ts'
import { outcomeWord } from '#lib/api/sample-progress.ts'
import type { IndexedRecord, RecordPlace } from '#lib/formats/reading/record-index.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { firstQuestion } from '#lib/trajectory/messages/first-question.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'

/** Position of a trajectory in a file. */
export type FilePosition = RecordPlace & {
  /** Position among the trajectories of its record, from 0. */
  readonly within: number
}

/** A row with a trajectory. */
export interface ListedSample
  extends Pick<TrajectorySummary, 'outcomeKind' | 'outcome' | 'turns' | 'tokens' | 'trained'> {
  readonly ok: true
  /** '' if the record has none. */
  readonly id: string
  readonly title: string | null
  /** The beginning of the first question; '' if there is none. */
  readonly question: string
  readonly reward: number | null
  readonly group: string | null
}

/** A trajectory of the file, or a record that cannot be read. */
export type FileSampleRow = FilePosition &
  (ListedSample | { readonly ok: false; readonly message: string; readonly hint: string })

/** Longest text of a row in characters. */
const SHOWN = 120

/** Returns the rows of a record. */
export function fileSampleRows({ place, opened }: IndexedRecord): readonly FileSampleRow[] {
  let within = 0
  return opened.map((one): FileSampleRow => {
    if (!one.ok) return { ...place, within, ok: false, message: one.error.message, hint: one.error.hint }
    return { ...place, within: within++, ...listedSample(one.trajectory) }
  })
}

function listedSample(trajectory: Trajectory): ListedSample {
  const { id, title, reward, group, outcome, segments } = trajectory
  const { tokens, trained } = statistics(trajectory)
  return {
    ok: true,
    id,
    title: title === undefined ? null : beginningOf(title, SHOWN),
    question: beginningOf(firstQuestion(trajectory, SHOWN), SHOWN),
    reward: reward ?? null,
    group: group?.id ?? null,
    outcomeKind: outcome.kind,
    outcome: outcomeWord(outcome),
    turns: segments.filter(({ kind }) => kind === 'response').length,
    tokens,
    trained,
  }
}

/** Returns the place of a row in words, such as `line 12`, `[3]` or `row 5`. */
export function placeWords(place: FilePosition): string {
  const parts = [
    'row' in place ? `row ${place.row}` : place.line !== undefined && `line ${place.line}`,
    !('row' in place) && place.item !== undefined && `[${place.item}]`,
    place.within > 0 && `sample ${place.within + 1}`,
  ]
  return parts.filter(Boolean).join(', ') || 'sample 1'
}
