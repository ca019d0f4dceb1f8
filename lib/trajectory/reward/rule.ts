/** Reward rules: an answer that matches gets 1, any other 0. A group has one rule for all samples. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { isPattern } from './is-pattern.ts'

const LONGEST_EXPECTED = 20_000
const LONGEST_PATTERN = 1_000

const pattern = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(LONGEST_PATTERN),
    z.refine(isPattern, { message: 'a JavaScript regular expression (flag u)' }),
  )

/** Schema of a reward rule. */
export const rewardRuleSchema = z.discriminatedUnion('kind', [
  withDescription(
    z.strictObject({
      kind: z.literal('exact'),
      expected: withDescription(
        z.string().check(z.maxLength(LONGEST_EXPECTED)),
        'The whole answer, without surrounding white space.',
      ),
      ignoreCase: withDescription(z.exactOptional(z.boolean()), 'Default false.'),
    }),
    'The answer is this text.',
  ),
  withDescription(
    z.strictObject({
      kind: z.literal('pattern'),
      pattern: withDescription(pattern, 'A JavaScript regular expression, flag u.'),
      ignoreCase: withDescription(z.exactOptional(z.boolean()), 'Default false.'),
      expected: withDescription(
        z.exactOptional(z.string().check(z.maxLength(LONGEST_EXPECTED))),
        'Text that the last match must have captured (its first group, or all of it without groups). Omitted: any match.',
      ),
    }),
    'The regular expression matches in the answer.',
  ),
  withDescription(
    z.strictObject({
      kind: z.literal('number'),
      expected: z.number(),
      tolerance: withDescription(
        z.exactOptional(z.number().check(z.minimum(0))),
        'Largest allowed difference. Default 0.',
      ),
    }),
    'The last number of the answer, or of its last \\boxed{…}, equals this one.',
  ),
])
/** A reward rule. */
export type RewardRule = Plain<z.infer<typeof rewardRuleSchema>>
