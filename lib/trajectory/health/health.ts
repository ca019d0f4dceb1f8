/** The findings of a health check, as they are shown, stored next to a trajectory and returned over HTTP. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Incremented when the checks change, so that stored results of older checks are computed again. */
export const HEALTH_VERSION = 12

const SEVERITIES = ['error', 'warning', 'note'] as const
/** The severity of a finding. */
export type Severity = (typeof SEVERITIES)[number]

const repairOfferSchema = z.object({
  name: withDescription(z.string(), 'As in POST /api/trajectories/{key}/repairs.'),
  title: withDescription(z.string(), 'What the repair does.'),
})
/** A repair that removes a finding. */
export type RepairOffer = Plain<z.infer<typeof repairOfferSchema>>

const findingSchema = z.object({
  kind: withDescription(
    z.enum([
      'drift',
      'mask',
      'alignment',
      'problem',
      'truncated',
      'over-limit',
      'ending',
      'malformed-call',
      'failed-call',
      'missed-call',
      'result-not-read',
      'finish-contradiction',
      'open-think',
      'weights',
      'placeholder',
      'image',
      'impossible-logprob',
      'foreign-id',
      'other-text',
      'pieces',
      'lost-after-cut',
      'masked-by-cut',
      'dropped-by-cut',
      'unreadable',
    ]),
    'The check that reports it.',
  ),
  severity: withDescription(
    z.enum(SEVERITIES),
    'error: training on it teaches something wrong. warning: it needs a look. note: worth knowing.',
  ),
  label: withDescription(z.string(), 'A short text with the count.'),
  message: withDescription(z.string(), 'A sentence with the details.'),
  count: z.int().check(z.minimum(1)),
  places: withDescription(
    z.array(z.object({ start: z.int().check(z.minimum(0)), end: z.int().check(z.minimum(0)) })),
    'Half-open ranges of tokens, counted from the first of the trajectory. Empty: the whole trajectory.',
  ),
  remedy: withDescription(z.exactOptional(z.string()), 'How to fix it. Omitted: nothing needs to be fixed.'),
  repair: withDescription(
    z.exactOptional(repairOfferSchema),
    'The repair that removes it from an imported trajectory. Omitted: there is none.',
  ),
})
/** A finding of a health check. */
export type HealthFinding = Plain<z.infer<typeof findingSchema>>

const checkSchema = z.object({
  name: withDescription(z.string(), 'The subject of the check.'),
  unknown: withDescription(z.exactOptional(z.string()), 'Why the result is unknown. Omitted: it is known.'),
})

/** Schema of the result of a health check. */
export const healthSchema = z.object({
  findings: withDescription(z.array(findingSchema), 'The worst first.'),
  checks: z.array(checkSchema),
})
/** The result of a health check. */
export type Health = Plain<z.infer<typeof healthSchema>>

/** Schema of the short result for a row of a list, without sentences and ranges. */
export const healthGistSchema = z.object({
  findings: z.array(z.pick(findingSchema, { kind: true, severity: true, label: true, count: true })),
  unknown: withDescription(z.array(z.string()), 'Checks whose result is unknown, with the reason.'),
})
/** The short result of a health check. */
export type HealthSummary = Plain<z.infer<typeof healthGistSchema>>

/** Returns the short result. */
export const healthSummary = ({ findings, checks }: Health): HealthSummary => ({
  findings: findings.map(({ kind, severity, label, count }) => ({ kind, severity, label, count })),
  unknown: checks.flatMap(({ name, unknown }) => (unknown === undefined ? [] : [`${name}: ${unknown}`])),
})

/** Returns the worst severity of the findings, or undefined if there are none. */
export const worstSeverity = (findings: readonly Pick<HealthFinding, 'severity'>[]): Severity | undefined =>
  SEVERITIES.find((severity) => findings.some((finding) => finding.severity === severity))

/** Sorts findings by severity, the worst first. */
export const sortBySeverity = <F extends Pick<HealthFinding, 'severity'>>(findings: readonly F[]): readonly F[] =>
  findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))

/** Label of the finding about a prompt that was encoded again, so that it is a fork of another trajectory. */
export const ENCODED_AGAIN_LABEL = 'prompt does not continue the earlier tokens'
