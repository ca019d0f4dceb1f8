/** Checks that a trajectory has one image for each image placeholder, and that no placeholder is trained. */
import type { Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { imagePartsIn, imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import { placeholderRuns, placeholdersOf } from '#lib/trajectory/images/placeholders.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type HealthCheck, toTrajectorySpan } from './check.ts'

/** Reports expected and found numbers of images, and trained placeholders. */
export const checkImages: HealthCheck = (trajectory, starts) => {
  const runs = trajectory.segments.flatMap((segment, index) =>
    placeholderRuns(segment.ids, placeholdersOf(trajectory)).map((span) => ({
      place: toTrajectorySpan(span, elementAt(starts, index)),
      isTrained: Array.from({ length: span.end - span.start }).some((_, at) => isTrained(segment, span.start + at)),
    })),
  )
  const trained = runs.filter((run) => run.isTrained).map(({ place }) => place)
  const hasNoImages = trajectory.imageData === undefined && trajectory.segments.flatMap(imagePartsIn).length === 0
  return {
    findings: [
      ...(trajectory.imageData === undefined ? countsOfSegments(trajectory, starts) : countsOfFile(trajectory, runs)),
      ...(trained.length > 0 ? [trainedFinding(trained)] : []),
    ],
    ...(runs.length > 0 && hasNoImages && { unknown: 'the file does not contain its images' }),
  }
}

/** Messages say how many images belong to their segment. */
const countsOfSegments = (trajectory: Trajectory, starts: readonly number[]): readonly HealthFinding[] =>
  trajectory.segments.flatMap((segment, index) => {
    const expected = imagePartsIn(segment).length
    const found = imageSpansOf(segment, trajectory)
    if (expected === 0 || found.length === expected) return []
    const whole = { start: elementAt(starts, index), end: elementAt(starts, index + 1) }
    const places = found.map((span) => toTrajectorySpan(span, whole.start))
    return [countFinding(`Segment ${index} has`, expected, found.length, places.length > 0 ? places : [whole])]
  })

function countsOfFile(
  { imageData = [] }: Trajectory,
  runs: readonly { readonly place: Span }[],
): readonly HealthFinding[] {
  if (runs.length === imageData.length) return []
  const places = runs.map(({ place }) => place)
  return [countFinding('The file has', imageData.length, runs.length, places)]
}

const countFinding = (what: string, expected: number, found: number, places: readonly Span[]): HealthFinding => ({
  kind: 'image',
  severity: 'error',
  label: `${countWithNoun(expected, 'image')}, ${countWithNoun(found, 'placeholder')}`,
  message: `${what} ${countWithNoun(expected, 'image')}, and its tokens have ${countWithNoun(found, 'image placeholder')}: an image processor would refuse it, or assign images to wrong places.`,
  count: Math.abs(expected - found),
  places,
  remedy: 'Render the conversation with a chat template that writes one placeholder for each image.',
})

const trainedFinding = (places: readonly Span[]): HealthFinding => ({
  kind: 'image',
  severity: 'error',
  label: `${countWithNoun(places.length, 'trained image placeholder')}`,
  message:
    'Image placeholders are trained: the model would learn to write them, and a later prompt would have placeholders without images.',
  count: places.length,
  places,
  remedy: 'Set the loss mask of these tokens to 0.',
})
