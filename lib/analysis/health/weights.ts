/** Checks that one version of the weights sampled all tokens. In asynchronous training some tokens are older than others. */
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type HealthCheck, toTrajectorySpan } from './check.ts'

/** Reports changes of the weight version, between responses or within one. */
export const checkWeights: HealthCheck = ({ segments }, starts) => {
  const recordedVersions = segments.flatMap((segment, index) =>
    segment.kind === 'response'
      ? (segment.weightVersions ?? [])
          .filter(({ start, end }) => end > start)
          .map((span) => ({ version: span.version, index, place: toTrajectorySpan(span, elementAt(starts, index)) }))
      : [],
  )
  const versions = [...new Set(recordedVersions.map(({ version }) => version))]
  const changes = recordedVersions.filter(({ version }, at) => at > 0 && version !== recordedVersions[at - 1]?.version)
  const isWithin = recordedVersions.some(
    ({ version, index }, at) =>
      recordedVersions[at - 1]?.index === index && recordedVersions[at - 1]?.version !== version,
  )
  const finding: HealthFinding = {
    kind: 'weights',
    severity: 'warning',
    label: `${countWithNoun(versions.length, 'weight version')}${isWithin ? ' within a response' : ''}`,
    message: `The tokens were sampled by ${countWithNoun(versions.length, 'version')} of the weights (${versions.join(', ')}), which changed ${isWithin ? 'in the middle of a response' : 'between responses'}.`,
    count: versions.length,
    places: changes.map(({ place }) => place),
    remedy: 'Correct for stale tokens (importance ratios per version), or leave out the older tokens.',
  }
  const responses = segments.filter(({ kind }) => kind === 'response')
  return {
    findings: versions.length > 1 ? [finding] : [],
    ...(responses.length > 0 &&
      recordedVersions.length === 0 && { unknown: 'the file does not record which weights wrote the responses' }),
  }
}
