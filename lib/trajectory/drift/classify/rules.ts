/** The order of the classification rules, the most certain first. The first rule that applies wins. */
import { toolCall } from './call/call.ts'
import { context } from './context.ts'
import { endOfTurn } from './end-of-turn.ts'
import { movedAroundCall } from './moved.ts'
import type { Rule } from './place.ts'
import { truncation } from './remainder.ts'
import { classifySameBytes, spelled, untold } from './same-bytes.ts'
import { separator } from './separator.ts'
import { specialTokens } from './special-tokens.ts'
import { think } from './think.ts'
import { normalisation, partialUtf8 } from './unicode.ts'

/** All rules in order. */
export const RULES: readonly Rule[] = [
  untold,
  spelled,
  classifySameBytes,
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
