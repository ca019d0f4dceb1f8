/** The sampling parameters of a request; no others are sent. */
import * as z from 'zod'
import { type SamplingName, samplingNames, samplingParameter } from '#lib/sampling/parameters.ts'
import {
  combinationProblem,
  furtherProblem,
  type Sampling,
  type SamplingRequest,
  valueSchemas,
} from '#lib/sampling/values.ts'
import { SAMPLING_WORDS } from '#lib/sampling/words.ts'

/** Refuses values out of range and parameters that exclude each other. */
export const samplingSchema = z
  .strictObject({
    ...knownShape(),
    further: z
      .record(z.string().min(1), z.json())
      .superRefine((further, context) => {
        for (const name of Object.keys(further)) {
          const message = furtherProblem(name)
          if (message !== undefined) context.addIssue({ code: 'custom', message, path: [name] })
        }
      })
      .optional()
      .describe(
        'Parameters that Rollscope does not know, sent unchanged; a server refuses those that it does not support.',
      ),
  })
  .superRefine((sampling: SamplingRequest, context) => {
    const problem = combinationProblem(sampling)
    if (problem) context.addIssue({ code: 'custom', message: problem.why, path: [problem.name] })
  })

/** Returns the parameters to send, with the further ones on the same level as the others. */
export const sentSampling = ({ further, ...known }: SamplingRequest): Sampling => Object.assign({}, further, known)

type KnownShape = { readonly [Name in SamplingName]: z.ZodOptional<z.core.$ZodType<NonNullable<Sampling[Name]>>> }

function knownShape(): KnownShape {
  return Object.fromEntries(
    samplingNames.map((name) => [name, z.optional(valueSchemas[name]).describe(descriptionOf(name))]),
  ) as unknown as KnownShape
}

function descriptionOf(name: SamplingName): string {
  const { default: standard } = samplingParameter(name)
  const { explanation, training } = SAMPLING_WORDS[name]
  return [explanation, training, standard !== null && `SGLang’s default: ${standard}.`].filter(Boolean).join(' ')
}
