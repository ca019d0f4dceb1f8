/** What is wrong with a trajectory, as it is shown, stored beside it and told over HTTP. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'

/** Raised when the checks change: what was stored by older ones is checked again. */
export const HEALTH_VERSION = 7

const SEVERITIES = ['error', 'warning', 'note'] as const
export type Severity = (typeof SEVERITIES)[number]

const findingSchema = z.object({
  kind: z
    .enum([
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
      'impossible-logprob',
      'foreign-id',
      'other-text',
      'pieces',
      'lost-after-cut',
      'masked-by-cut',
      'dropped-by-cut',
      'unreadable',
    ])
    .describe('What was looked at.'),
  severity: z
    .enum(SEVERITIES)
    .describe('error: training on it teaches something wrong. warning: it should be looked at. note: worth knowing.'),
  label: z.string().describe('A few words, with the count.'),
  message: z.string().describe('A sentence, for a person.'),
  count: z.int().min(1),
  places: z
    .array(z.object({ start: z.int().min(0), end: z.int().min(0) }))
    .describe('Half-open ranges of tokens, counted from the first of the trajectory. Empty: it as a whole.'),
  remedy: z.string().exactOptional().describe('What to do about it. Omitted: nothing to be done.'),
})
export type HealthFinding = Plain<z.infer<typeof findingSchema>>

const checkSchema = z.object({
  name: z.string().describe('What was looked for.'),
  unknown: z.string().exactOptional().describe('Why it could not be told. Omitted: it was told.'),
})

export const healthSchema = z.object({
  findings: z.array(findingSchema).describe('The gravest first.'),
  checks: z.array(checkSchema),
})
export type Health = Plain<z.infer<typeof healthSchema>>

/** Of a row in a list: the same without sentences and places. */
export const healthGistSchema = z.object({
  findings: z.array(findingSchema.pick({ kind: true, severity: true, label: true, count: true })),
  unknown: z.array(z.string()).describe('What could not be told, and why.'),
})
export type HealthGist = Plain<z.infer<typeof healthGistSchema>>

export const gistOf = ({ findings, checks }: Health): HealthGist => ({
  findings: findings.map(({ kind, severity, label, count }) => ({ kind, severity, label, count })),
  unknown: checks.flatMap(({ name, unknown }) => (unknown === undefined ? [] : [`${name}: ${unknown}`])),
})

/** The gravest of the findings; undefined where there is none. */
export const gravest = (findings: readonly Pick<HealthFinding, 'severity'>[]): Severity | undefined =>
  SEVERITIES.find((severity) => findings.some((finding) => finding.severity === severity))

export const byGravity = <F extends Pick<HealthFinding, 'severity'>>(findings: readonly F[]): readonly F[] =>
  findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
