/** Sampling parameters as a request has them: the only ones that go out. */
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

/** Refused: values out of their ranges, and what cannot go together. */
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
        'Parameters that Rollscope does not know, sent as they are; a server refuses those that it does not know.',
      ),
  })
  .superRefine((sampling: SamplingRequest, context) => {
    const problem = combinationProblem(sampling)
    if (problem) context.addIssue({ code: 'custom', message: problem.why, path: [problem.name] })
  })

/** What goes out: the further ones are on one level with the others. */
export const sentSampling = ({ further, ...known }: SamplingRequest): Sampling => Object.assign({}, further, known)

type KnownShape = { readonly [Name in SamplingName]: z.ZodOptional<z.ZodType<NonNullable<Sampling[Name]>>> }

function knownShape(): KnownShape {
  return Object.fromEntries(
    samplingNames.map((name) => [name, valueSchemas[name].optional().describe(descriptionOf(name))]),
  ) as unknown as KnownShape
}

function descriptionOf(name: SamplingName): string {
  const { default: standard } = samplingParameter(name)
  const { explanation, training } = SAMPLING_WORDS[name]
  return [explanation, training, standard !== null && `SGLang’s default: ${standard}.`].filter(Boolean).join(' ')
}
