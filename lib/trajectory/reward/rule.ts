/** Reward rules: an answer that matches gets 1, any other 0. A group has one rule for all samples. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import { isPattern } from './is-pattern.ts'

const LONGEST_EXPECTED = 20_000
const LONGEST_PATTERN = 1_000

const pattern = z
  .string()
  .min(1)
  .max(LONGEST_PATTERN)
  .refine(isPattern, { message: 'a JavaScript regular expression (flag u)' })

/** Schema of a reward rule. */
export const rewardRuleSchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('exact'),
      expected: z.string().max(LONGEST_EXPECTED).describe('The whole answer, without surrounding white space.'),
      ignoreCase: z.boolean().exactOptional().describe('Default false.'),
    })
    .describe('The answer is this text.'),
  z
    .strictObject({
      kind: z.literal('pattern'),
      pattern: pattern.describe('A JavaScript regular expression, flag u.'),
      ignoreCase: z.boolean().exactOptional().describe('Default false.'),
      expected: z
        .string()
        .max(LONGEST_EXPECTED)
        .exactOptional()
        .describe(
          'Text that the last match must have captured (its first group, or all of it without groups). Omitted: any match.',
        ),
    })
    .describe('The regular expression matches in the answer.'),
  z
    .strictObject({
      kind: z.literal('number'),
      expected: z.number(),
      tolerance: z.number().min(0).exactOptional().describe('Largest allowed difference. Default 0.'),
    })
    .describe('The last number of the answer, or of its last \\boxed{…}, equals this one.'),
])
/** A reward rule. */
export type RewardRule = Plain<z.infer<typeof rewardRuleSchema>>
