/** What explains a drift, the surest first: the first rule that finds something is right. */
import { toolCall } from './call/call.ts'
import { context } from './context.ts'
import { endOfTurn } from './end-of-turn.ts'
import { movedAroundCall } from './moved.ts'
import type { Rule } from './place.ts'
import { truncation } from './remainder.ts'
import { spelled, split, untold } from './same-bytes.ts'
import { separator } from './separator.ts'
import { specialTokens } from './special-tokens.ts'
import { think } from './think.ts'
import { normalisation, partialUtf8 } from './unicode.ts'

export const RULES: readonly Rule[] = [
  untold,
  spelled,
  split,
  partialUtf8,
  normalisation,
  endOfTurn,
  truncation,
  think,
  toolCall,
  movedAroundCall,
  separator,
  specialTokens,
  context,
]
