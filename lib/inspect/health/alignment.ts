/** Whether every request began with exactly the ids before it: the promise of token-in/token-out. */
import type { HealthFinding } from '#lib/core/health.ts'
import { inputHashes } from '#lib/core/input-hash.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { type Check, counted } from './check.ts'

export const checkAlignment: Check = ({ segments }, starts) => {
  const ranges = segments.map((_, index) => ({ start: starts[index] as number, end: starts[index + 1] as number }))
  const broken = segments.flatMap((segment, index) =>
    segment.kind === 'prompt' &&
    segment.derivation?.kind === 'continuation' &&
    segment.derivation.check.kind === 'broken'
      ? [{ place: ranges[index] as (typeof ranges)[number], why: segment.derivation.check.why }]
      : [],
  )
  const otherInput = segments.flatMap((segment, index) => {
    const place = ranges[index] as (typeof ranges)[number]
    const sent = segment.kind === 'response' ? segment.request?.inputLength : undefined
    return sent === undefined || sent === place.start ? [] : [{ place, sent }]
  })
  const otherIds = otherInputs({ segments }, starts).map((index) => ranges[index] as (typeof ranges)[number])
  const findings: HealthFinding[] = []
  if (broken[0])
    findings.push({
      kind: 'alignment',
      severity: 'error',
      label: 'TITO check broken',
      message: `The template rewrites what a continuation appends: ${broken[0].why}`,
      count: broken.length,
      places: broken.map(({ place }) => place),
      remedy:
        'Look at the boundary in the template lab; choose template options under which earlier turns stay as they are.',
    })
  if (otherInput[0])
    findings.push({
      kind: 'alignment',
      severity: 'error',
      label: `${counted(otherInput.length, 'request')} of other length`,
      message: `A response stands behind ${otherInput[0].place.start} tokens, and its request had ${otherInput[0].sent}: the model did not read what is recorded before it.`,
      count: otherInput.length,
      places: otherInput.map(({ place }) => place),
      remedy: 'Logprobs of such a response belong to another prefix: do not train on it.',
    })
  if (otherIds.length > 0)
    findings.push({
      kind: 'alignment',
      severity: 'error',
      label: `${counted(otherIds.length, 'request')} of other ids`,
      message:
        'The hash of what was sent is not that of the tokens before the response: the ids were changed after they were recorded.',
      count: otherIds.length,
      places: otherIds,
      remedy: 'Logprobs of such a response belong to another prefix: do not train on it.',
    })
  const prompts = segments.filter(({ kind }) => kind === 'prompt')
  const told = prompts.filter((segment) => segment.kind === 'prompt' && segment.derivation?.kind === 'continuation')
  return {
    findings,
    ...(prompts.length > 1 &&
      told.length < prompts.length - 1 && { unknown: 'the file does not say how its later prompts came about' }),
  }
}

/** What stands in files for a hash that was not made is no reason for an alarm. */
const SHA_256 = /^[0-9a-f]{64}$/

/** The responses whose requests had as many ids as stand before them, and others. */
function otherInputs({ segments }: Pick<Trajectory, 'segments'>, starts: readonly number[]): readonly number[] {
  const recorded = segments.map((segment, index) => {
    const request = segment.kind === 'response' ? segment.request : undefined
    return request && request.inputLength === starts[index] && SHA_256.test(request.inputHash)
      ? request.inputHash
      : undefined
  })
  if (recorded.every((hash) => hash === undefined)) return []
  const hashes = [...inputHashes([[], ...segments.map(({ ids }) => ids)])]
  return recorded.flatMap((hash, index) => (hash === undefined || hash === hashes[index] ? [] : [index]))
}
