/** How an answer is rewarded: 1 where it fits, else 0. One rule for all samples of a group. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import { isPattern } from './is-pattern.ts'

const LONGEST_EXPECTED = 20_000
const LONGEST_PATTERN = 1_000

const pattern = z
  .string()
  .min(1)
  .max(LONGEST_PATTERN)
  .refine(isPattern, { message: 'a regular expression of JavaScript (flag u)' })

export const rewardRuleSchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('exact'),
      expected: z.string().max(LONGEST_EXPECTED).describe('The whole answer, without the white space around it.'),
      ignoreCase: z.boolean().exactOptional().describe('Default false.'),
    })
    .describe('The answer is this text.'),
  z
    .strictObject({
      kind: z.literal('pattern'),
      pattern: pattern.describe('Of JavaScript, flag u.'),
      ignoreCase: z.boolean().exactOptional().describe('Default false.'),
      expected: z
        .string()
        .max(LONGEST_EXPECTED)
        .exactOptional()
        .describe(
          'What the last match has captured (its first group; without groups all of it). Omitted: any match will do.',
        ),
    })
    .describe('A regular expression is found in the answer.'),
  z
    .strictObject({
      kind: z.literal('number'),
      expected: z.number(),
      tolerance: z.number().min(0).exactOptional().describe('How far off the answer may be. Default 0.'),
    })
    .describe('The last number of the answer, or of its last \\boxed{…}, is this one.'),
])
export type RewardRule = Plain<z.infer<typeof rewardRuleSchema>>
