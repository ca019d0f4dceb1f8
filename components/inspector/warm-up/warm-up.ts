/** What the first view of a trajectory needs once, done before there is one. */
import { whenIdle } from '#components/shell/when-idle.ts'
import { DEFAULT_GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import { measureText, TOKEN_FONTS } from '#components/token-view/measure/measure-text.ts'
import { pieceView } from '#components/token-view/pieces/piece-view.ts'

/** Texts that many trajectories contain beside ASCII. The browser searches for a font at the first of each, for up to 5 ms. */
const SAMPLES = [
  ...'⟨⟩…“”‘’–—•·→↔×−≤≥²│─├└✓✗ΔΣéλж一，？あ가',
  '🙂',
  // A letter and its accent are divided from other letters by a segmenter, which loads with the first of them.
  'e\u0301',
]
/** Longest time in milliseconds until the next texts are measured. */
const LONGEST_WAIT_MS = 200

let hasBegun = false

/** Once: compiles the expressions of the token view and finds its fonts, in idle times. */
export async function warmUpTokenView(): Promise<void> {
  if (hasBegun) return
  hasBegun = true
  const { fontSize } = DEFAULT_GRID_OPTIONS
  // A font that loads later would be searched again.
  await document.fonts.load(`${fontSize}px ${TOKEN_FONTS}`, SAMPLES.join(''))
  const texts = SAMPLES.values()
  const measureUntil = (until: number) => {
    for (const text of texts) {
      pieceView(text)
      measureText(text, fontSize)
      if (performance.now() >= until) return void whenIdle(LONGEST_WAIT_MS, measureUntil)
    }
  }
  whenIdle(LONGEST_WAIT_MS, measureUntil)
}
