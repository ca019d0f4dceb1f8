/** Builds a side as a trajectory: the recorded one, or the one of a pipeline that keeps text or messages instead of ids. */

import { messagesSide } from '../retokenize/messages-side.ts'
import { textSide } from '../retokenize/text-side.ts'
import { sideRead } from './read-side.ts'
import type { BuildResult, LoadedSide, ShownSide } from './shown-side.ts'

/** Returns the trajectory that a side shows, with its caveats. A side without the tokenizer that it needs gives a reason. */
export function buildSide(loaded: LoadedSide): BuildResult<ShownSide> {
  const { as, trajectory, tokenizer } = loaded
  switch (as.kind) {
    case 'recorded':
      return { ok: true, value: { trajectory, caveats: [] } }
    case 'read':
      return sideRead(trajectory)
    case 'text':
      return tokenizer ? { ok: true, value: textSide(loaded, tokenizer) } : WITHOUT_TOKENIZER
    default:
      return tokenizer ? messagesSide(loaded, as, tokenizer) : WITHOUT_TOKENIZER
  }
}

const WITHOUT_TOKENIZER: BuildResult<never> = {
  ok: false,
  why: 'No tokenizer is chosen.',
  hint: 'Choose the tokenizer of the model that was run.',
}
